import { describe, expect, it } from 'vitest';
import {
  durationOrAuto,
  POOL_SETTINGS,
  percent,
  settingChanges,
  TOP_SETTINGS,
} from '../../../cli/compare/setting-changes.ts';
import { readConfig } from '../../../lambda/config/read.ts';
import { documentOf, type PoolText } from './inputs.ts';

const configOf = (pools: readonly PoolText[], more: PoolText = {}) =>
  readConfig(JSON.stringify(documentOf(pools, more)), 'autoscaler.yaml').config;

/** `setting of pools: before → after`, with a mark for those that no replay judges. */
function changes(
  before: readonly PoolText[],
  after: readonly PoolText[],
  [top, topAfter]: readonly PoolText[] = [],
): readonly string[] {
  return settingChanges(configOf(before, top), configOf(after, topAfter)).map(
    ({ setting, pools, isEveryPool, before, after, isReplayed }) =>
      `${isReplayed ? '' : '(not judged) '}${setting}${pools.length === 0 ? '' : ` of ${isEveryPool ? 'all' : pools.join()}`}: ${before} → ${after}`,
  );
}

describe('the list of settings', () => {
  it.each([
    {
      after: { max: 9 },
      says: ['max of small: 8 → 9', 'prebuilds.maxTasks of small: 6 → 7', 'prewarm.max of small: 8 → 9'],
    },
    { after: { min: 1 }, says: ['min of small: auto → 1'] },
    { after: { idleTimeout: '5m' }, says: ['idleTimeout of small: 20s → 5m'] },
    { after: { tags: { gpu: 'a10' } }, says: ['tags of small: (untagged) → gpu=a10'] },
    { after: { wake: { maxDelay: '5m' } }, says: ['wake.maxDelay of small: 10m → 5m'] },
    { after: { spot: true }, says: ['spot of small: false → true'] },
    {
      after: { capacity: ['spot', 'on-demand'] },
      says: ['spot of small: false → true', 'capacity of small: none → spot, on-demand'],
    },
    {
      after: { capacity: { provider: 'builders', dollarsPerHour: 0.02 } },
      says: ['capacity.provider of small: none → builders', 'capacity.dollarsPerHour of small: none → $0.02'],
    },
    {
      after: { waiting: { person: 1 } },
      says: [
        'waiting.person of small: $0.10 → $1.00',
        'waiting.autostart of small: $0.10 → $1.00',
        'waiting.prebuild of small: $0.005 → $0.05',
        'waiting.stop of small: $0.001 → $0.01',
      ],
    },
    {
      after: {
        schedules: [
          {
            days: 'mon-tue',
            from: '08:30',
            to: '18:00',
            timezone: 'Europe/Berlin',
            warm: 5,
            except: ['2026-12-25'],
          },
        ],
      },
      says: [
        'schedules of small: none → mon,tue 08:30-18:00 Europe/Berlin: min 0, warm 5, not on 2026-12-25',
      ],
    },
    {
      after: { image: 'coder:2' },
      says: ['(not judged) image of small: ghcr.io/coder/coder:v2.30.0 → coder:2'],
    },
    { after: { prometheusPort: 2112 }, says: ['(not judged) prometheusPort of small: none → 2112'] },
  ])('shows $after with complete values', ({ after, says }) => {
    expect(changes([{}], [after]).toSorted()).toEqual(says.toSorted());
  });

  it('shows settings of the deployment', () => {
    const after = {
      limits: { maxTasks: 9, dollarsPerHour: 5 },
      roll: { atOnce: '50%' },
      aws: { metrics: { perPool: true } },
    };
    expect(changes([{}], [{}], [{}, after])).toEqual([
      'limits.maxTasks: 100 → 9',
      'limits.dollarsPerHour: none → $5.00',
      '(not judged) roll.atOnce: 25% → 50%',
      '(not judged) aws.metrics.perPool: false → true',
    ]);
  });

  it('says once what changes in several pools alike', () => {
    const pools = ['a', 'b', 'c'].map((name) => ({ name, tags: { name } }));
    const all = pools.map((pool) => ({ ...pool, warm: 2 }));
    expect(changes(pools, all)).toEqual(['warm of all: auto → 2']);
    expect(changes(pools, [...all.slice(0, 2), ...pools.slice(2)])).toEqual(['warm of a,b: auto → 2']);
  });

  it('shows new, removed and renamed pools', () => {
    const gpu = { name: 'gpu', tags: { gpu: 'a10' } };
    expect(changes([{}], [{}, gpu])).toEqual([
      'name of gpu: none → organization default, tags gpu=a10, min auto, max 8',
    ]);
    expect(changes([{}, gpu], [{}])).toEqual([
      'name of gpu: organization default, tags gpu=a10, min auto, max 8 → none',
    ]);
    expect(changes([{}], [{ name: 'tiny', max: 8 }])).toEqual(['name of tiny: small → tiny']);
  });

  it('finds the field of every duration and percentage, whose name ends with its unit', () => {
    const config = configOf([{}]);
    const [pool] = config.pools;
    const inUnits = ({ show }: { readonly show: unknown }) => show === durationOrAuto || show === percent;
    const missing = [
      ...TOP_SETTINGS.filter(inUnits).filter(({ of }) => of(config) === undefined),
      ...POOL_SETTINGS.filter(inUnits).filter(({ of }) => pool && of(pool) === undefined),
    ];
    expect(missing).toEqual([]);
  });

  it('is empty if nothing changes', () => {
    expect(changes([{}], [{ idleTimeout: '20s', prewarm: { max: 8 } }])).toEqual([]);
  });
});

describe('private values', () => {
  it.each([
    {
      before: { environment: { A: 'hunter2', B: 'x', D: 'same' } },
      after: { environment: { A: 'hunter3', C: 'y', D: 'same' } },
      says: [
        'environment.A of small: set → another value',
        'environment.B of small: set → none',
        'environment.C of small: none → set',
      ],
    },
    {
      before: { secrets: { TF_TOKEN: { secret: 'one' } } },
      after: { secrets: { TF_TOKEN: { secret: 'two' } } },
      says: ['secrets.TF_TOKEN of small: set → another value'],
    },
    { before: {}, after: { key: { secret: 'other' } }, says: ['key of small: set → another value'] },
    {
      before: {},
      after: { key: undefined, psk: { secret: 'coder/psk' } },
      says: ['key of small: set → none', 'psk of small: none → set'],
    },
    {
      before: {},
      after: { taskRole: { arn: 'arn:aws:iam::111111111111:role/x' } },
      says: ['taskRole.arn of small: none → set'],
    },
  ])('are not shown: $says', ({ before, after, says }) => {
    expect(changes([before], [after])).toEqual(says.map((text) => `(not judged) ${text}`));
  });

  it('hides a tag that looks like a token', () => {
    const [said = ''] = changes([{}], [{ tags: { token: 'aB3dE5gH9j-aB3dE5gH9jKlMn0pQrStUv' } }]);
    expect(said).toBe('tags of small: (untagged) → (not shown)');
  });
});
