/** The prices of waiting of a pool, from the settings of all pools and its own. */
import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../lambda/config/check.ts';
import { fileWith } from './written.ts';

const poolOf = (pool: object, rest: object = {}) => checkConfig(fileWith(pool, rest)).config.pools[0];

describe('the price of waiting', () => {
  it.each([
    { top: {}, pool: {}, is: [0.1, 0.1, 0.005, 0.001], because: 'these are the defaults' },
    { top: { person: 1 }, pool: {}, is: [1, 1, 0.05, 0.01], because: 'the others follow person' },
    { top: {}, pool: { person: 1 }, is: [1, 1, 0.05, 0.01], because: "the others follow the pool's person" },
    {
      top: { person: 1 },
      pool: { person: 0.02 },
      is: [0.02, 0.02, 0.001, 0.0002],
      because: "the pool's person comes before that of all pools",
    },
    {
      top: { person: 0.5, autostart: 0.25, prebuild: 0.1 },
      pool: {},
      is: [0.5, 0.25, 0.1, 0.005],
      because: 'a written price does not follow person',
    },
    {
      top: { person: 0.5, autostart: 0.25, prebuild: 0.1 },
      pool: { person: 1 },
      is: [1, 0.5, 0.2, 0.01],
      because: 'written prices change in proportion to the person of the pool',
    },
    {
      top: { person: 0 },
      pool: {},
      is: [0, 0, 0, 0],
      because: 'a price of 0 means that waiting costs nothing',
    },
    { top: { person: 1 }, pool: { person: 0 }, is: [0, 0, 0, 0], because: 'one pool may have no price' },
    {
      top: { person: 0, autostart: 0.1 },
      pool: { person: 1 },
      is: [1, 0.1, 0.05, 0.01],
      because: 'a price of 0 has no proportion',
    },
  ])(
    'derives $is from the top-level prices $top and the pool prices $pool: $because',
    ({ top, pool, is }) => {
      const { person, autostart, prebuild, stop } =
        poolOf({ waiting: pool }, { waiting: top })?.waiting ?? {};
      expect([person, autostart, prebuild, stop]).toEqual(is.map((price) => expect.closeTo(price, 12)));
    },
  );
});

it.each([
  { pool: {}, is: { warm: 'auto', min: 'auto' }, because: 'the prices decide, and the forecast' },
  { pool: { warm: 'auto' }, is: { warm: 'auto', min: 'auto' }, because: 'you may write the default' },
  { pool: { warm: 0, min: 0 }, is: { warm: 0, min: 0 }, because: '0 is a number of daemons' },
])('reads the pool $pool as $is: $because', ({ pool, is }) => {
  expect(poolOf(pool)).toMatchObject(is);
});

it('accepts dollarsPerHour if it allows a task of each pool that is not retiring', () => {
  const limits = { dollarsPerHour: 0.05 };
  expect(poolOf({}, { limits })).toBeDefined();
  expect(poolOf({ cpu: 4096, memory: 8192, retiring: true }, { limits })).toBeDefined();
  expect(() => poolOf({ cpu: 4096, memory: 8192 }, { limits })).toThrow('one task of pool "a" costs $0.1580');
});
