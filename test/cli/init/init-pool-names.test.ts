/** The names of the pools that `autoscaler init` derives from tag sets. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { poolNames, type TagSetOf } from '../../../cli/init/draft.ts';

const one = (tags: TagSetOf['tags'], organization = 'default'): TagSetOf => ({ organization, tags });

it.each<{ readonly scenario: string; readonly sets: readonly TagSetOf[]; readonly names: readonly string[] }>(
  [
    { scenario: 'no tags: the organization', sets: [one({}, 'data')], names: ['data'] },
    { scenario: 'a value that says enough', sets: [one({ size: 'large' })], names: ['large'] },
    { scenario: 'a yes: the name of the tag', sets: [one({ gpu: 'true' })], names: ['gpu'] },
    { scenario: 'a no keeps its value', sets: [one({ gpu: 'false' })], names: ['gpu-false'] },
    { scenario: 'a number alone says nothing', sets: [one({ cpu: '8' })], names: ['cpu-8'] },
    {
      scenario: 'tags in the order of their names',
      sets: [one({ region: 'eu', cluster: 'gpu' })],
      names: ['gpu-eu'],
    },
    {
      scenario: 'several organizations: each name begins with its own',
      sets: [one({}), one({ gpu: 'a10' }, 'data')],
      names: ['default', 'data-a10'],
    },
    {
      scenario: 'two tags with the same value',
      sets: [one({ region: 'eu' }), one({ zone: 'eu' })],
      names: ['eu', 'zone-eu'],
    },
    {
      scenario: 'values that differ only in case and punctuation',
      sets: [one({ os: 'Win' }), one({ os: 'win' }), one({ os: 'win!' })],
      names: ['win', 'os-win', 'win-2'],
    },
    { scenario: 'accents and capitals', sets: [one({ Größe: 'Größe XL' })], names: ['gro-e-xl'] },
    { scenario: 'nothing that a name may have', sets: [one({ 大: '小' })], names: ['pool'] },
    {
      scenario: 'a long value',
      sets: [one({ a: 'x'.repeat(40) }), one({ b: 'x'.repeat(40) })],
      names: ['x'.repeat(30), `b-${'x'.repeat(28)}`],
    },
    { scenario: 'a name that coderd refuses for a key', sets: [one({ a: 'psk' })], names: ['a-psk'] },
  ],
)('gives $names for $scenario', ({ sets, names }) => {
  expect(poolNames(sets)).toEqual(names);
});

it('gives valid and different names for any tag sets', () => {
  const tagSet = fc.record({ organization: fc.string(), tags: fc.dictionary(fc.string(), fc.string()) });
  fc.assert(
    fc.property(fc.array(tagSet, { maxLength: 60 }), (sets) => {
      const names = poolNames(sets);
      expect(new Set(names).size).toBe(sets.length);
      for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,29}$/);
    }),
  );
});
