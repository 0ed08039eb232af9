import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { mapping } from '../../lambda/shared/mapping.ts';

const parsed = (json: string): object => JSON.parse(json);
const entriesOf = (value: object): readonly unknown[] => Object.entries(value).sort();

describe('a mapping', () => {
  const seconds = z.codec(z.string(), z.number(), { decode: Number, encode: String });

  it('keeps the names that every object has, as its own', () => {
    const given = parsed('{"__proto__":"x","constructor":"y","a":"z"}');
    const read = mapping(z.string(), z.string()).parse(given);
    expect(entriesOf(read)).toEqual(entriesOf(given));
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  it('reads and writes values of another form', () => {
    const schema = mapping(z.string(), seconds);
    const read = schema.decode(parsed('{"__proto__":"1","a":"2"}') as Record<string, string>);
    expect(entriesOf(read)).toEqual([
      ['__proto__', 1],
      ['a', 2],
    ]);
    expect(entriesOf(schema.encode(read))).toEqual([
      ['__proto__', '1'],
      ['a', '2'],
    ]);
  });

  it('keeps them with checks and defaults added', () => {
    const schema = mapping(z.string(), z.string())
      .refine((tags) => Object.keys(tags).length < 2, 'too many')
      .prefault({})
      .meta({ description: 'tags' });
    expect(entriesOf(schema.parse(parsed('{"__proto__":"x"}')))).toEqual([['__proto__', 'x']]);
    expect(schema.safeParse(parsed('{"__proto__":"x","a":"y"}')).error?.issues).toMatchObject([
      { message: 'too many' },
    ]);
  });

  it.each<{ json: string; issue: object; because: string }>([
    {
      json: '{"__proto__":1}',
      issue: { code: 'invalid_type', path: ['__proto__'] },
      because: 'a value is wrong',
    },
    {
      json: '{"a":1}',
      issue: { code: 'invalid_type', path: ['a'] },
      because: 'a value is wrong',
    },
    {
      json: '[]',
      issue: { code: 'invalid_type', path: [], message: 'write a mapping' },
      because: 'it is a list',
    },
    { json: 'null', issue: { code: 'invalid_type', path: [] }, because: 'it is null' },
  ])('is refused with its place: $json, because $because', ({ json, issue }) => {
    const result = mapping(z.string(), z.string('write a text'), 'write a mapping').safeParse(
      JSON.parse(json),
    );
    expect(result.error?.issues).toMatchObject([issue]);
  });

  it('checks its names', () => {
    const names = z.string().regex(/^[a-z]+$/, 'use lower-case letters');
    const { error } = mapping(names, z.string()).safeParse(parsed('{"__proto__":"x","a":"y"}'));
    expect(error?.issues).toMatchObject([
      { code: 'invalid_key', path: ['__proto__'], issues: [{ message: 'use lower-case letters' }] },
    ]);
  });

  it('has the JSON Schema of a record', () => {
    const settings = (tags: z.ZodType): object => z.toJSONSchema(z.object({ tags }), { io: 'input' });
    expect(settings(mapping(z.string(), z.int()))).toEqual(settings(z.record(z.string(), z.int())));
  });
});
