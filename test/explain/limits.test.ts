/** What `status` and the finding `jobs-about-to-fail` say of each limit. */
import { expect, it } from 'vitest';
import { placeOf } from '../../cli/status/report.ts';
import {
  type Finding,
  LIMITS,
  type Limit,
  type PoolPlan,
  type Reason,
} from '../../lambda/decision/model/plan.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';

type Row = {
  readonly fields?: object;
  /** Beside the jobs that wait for the pool, in `status`. */
  readonly status: string | undefined;
  /** Of the finding: what limits the pool as long as it lasts, or what a larger number would move. */
  readonly finding: string;
};

const NOTHING = '10:00:00 UTC on. coderd gives';

const ROWS: Readonly<Record<Limit, Row>> = {
  'capped-at-max': { fields: { max: 2 }, status: 'max 2 is reached', finding: '`max: 9` of pool "cpu"' },
  'capped-at-max-tasks': {
    ...{ fields: { maxTasks: 7 }, status: 'limits.maxTasks 7 is reached' },
    finding: 'Pool "cpu" needs 9 tasks to serve all, limited by limits.maxTasks.',
  },
  'capped-at-dollars-per-hour': {
    ...{ fields: { dollarsPerHour: 3 }, status: 'limits.dollarsPerHour 3 is reached' },
    finding: 'Pool "cpu" needs 9 tasks to serve all, limited by limits.dollarsPerHour.',
  },
  'capped-at-prebuilds-max-tasks': {
    ...{ fields: { maxTasks: 1 }, status: 'launches for prebuilds stop at 1 task' },
    finding: 'stays limited by the part of max that prebuilds may use.',
  },
  pinned: { status: 'the pool is pinned', finding: 'if pool "cpu" stays limited by a pin.' },
  paused: { status: 'the pool is paused', finding: 'if pool "cpu" stays limited by a pause.' },
  'role-untried': { status: undefined, finding: NOTHING },
  'starts-failing': { status: 'starts fail', finding: 'stays limited by failing starts.' },
  'placement-failing': { status: 'starts fail', finding: 'stays limited by failing placement.' },
  'starts-throttled': {
    ...{ status: 'ECS waits after failed starts', finding: "stays limited by ECS's wait." },
  },
  'waiting-for-vacant': {
    ...{ status: undefined, finding: 'stays limited by tasks whose daemon never registered.' },
  },
  'license-missing': { status: undefined, finding: "stays limited by coderd's missing license." },
  'no-service': { status: undefined, finding: 'stays limited by its ECS service (see that finding).' },
};

const rows = LIMITS.map((code) => ({ code, ...ROWS[code] }));

it.each(rows)('status says "$status" of jobs that wait for a pool with $code', ({ code, fields, status }) => {
  const why = [{ code: 'nothing-to-do' }, { code, ...fields }] as readonly Reason[];
  const pools = [{ name: 'cpu', why }] as unknown as readonly PoolPlan[];
  const row = { jobs: 1, pool: 'cpu', served: 'when-there-is-room' } as Parameters<typeof placeOf>[0];
  expect(placeOf(row, pools).limit).toBe(status);
});

it.each(rows)('the finding about jobs that coderd will fail says "$finding" of $code', (row) => {
  const finding = {
    ...{ code: 'jobs-about-to-fail', organization: 'default', tags: {}, jobs: 3, of: 3, pool: 'cpu' },
    ...{ failsAt: '2026-11-20T10:00:00.000Z', limits: [row.code], tasks: 9, assumedMs: null },
  } as unknown as Finding;
  expect(sentenceOf(finding)).toContain(row.finding);
});
