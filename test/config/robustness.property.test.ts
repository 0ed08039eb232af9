import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError } from '../../lambda/config/problems/problems.ts';
import { readConfig } from '../../lambda/config/read.ts';
import { rootSetting, settingsBelow } from '../../lambda/config/schema/settings.ts';
import { runs } from '../support/runs.ts';

const names = settingsBelow(rootSetting()).map(({ path }) => path.replace(/^.*\./, '').replace('[]', ''));
const name = fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 8 }));
const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    '5m',
    '1',
    'arm64',
    'https://coder.example.com',
    'fri-mon',
    '08:30',
    '24:00',
    'Europe/Berlin',
    '2026-12-25',
    0,
    1,
    1024,
    2048,
    -1,
    1.5,
  ),
  fc.string({ maxLength: 12 }),
);

const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ depthSize: 'medium', withCrossShrink: true }, scalar, tie('list'), tie('mapping')),
  list: fc.array(tie('tree'), { maxLength: 3 }),
  mapping: fc.dictionary(name, tie('tree'), { maxKeys: 6 }),
}));
const mappingOf = (keys: Record<string, fc.Arbitrary<unknown>>) => fc.record(keys, { requiredKeys: [] });
const pool = fc.dictionary(fc.constantFrom(...names), fc.oneof(scalar, tree), { maxKeys: 12 });
const nearlyConfig = mappingOf({
  coder: tree,
  limits: tree,
  looks: tree,
  roll: tree,
  defaults: tree,
  pools: fc.array(pool, { maxLength: 3 }),
  aws: pool,
});

/** Errors of a reader that are no ConfigError, or that have a problem without a place. */
function surprise(text: string): unknown {
  try {
    readConfig(text, 'autoscaler.yaml');
  } catch (error) {
    if (!(error instanceof ConfigError)) return error;
    const isPlaced = error.problems.every(
      ({ line, column, message }) => (line ?? 0) > 0 && (column ?? 0) > 0 && message,
    );
    return error.problems.length > 0 && isPlaced ? undefined : error;
  }
  return undefined;
}

it('reads any document or refuses it with problems that have a line', () => {
  fc.assert(
    fc.property(fc.oneof(tree, nearlyConfig), (value) => {
      expect(surprise(stringify(value))).toBeUndefined();
    }),
    runs(500),
  );
});

it('reads any text or refuses it with problems that have a line', () => {
  const piece = fc.constantFrom(
    'coder',
    'pools',
    ': ',
    '\n',
    '  ',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '&a ',
    '*a',
    '<<',
    '"',
    "'",
    '|',
    '!x ',
    '? ',
    '#',
    '\t',
    ',',
    '---\n',
    'x',
    '%',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      expect(surprise(pieces.join(''))).toBeUndefined();
    }),
    runs(1000),
  );
});
