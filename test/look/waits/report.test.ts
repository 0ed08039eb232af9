/** What the function logs about a look and about the jobs that started. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { POOL_TAG } from '../../../lambda/decision/model/service-tags.ts';
import type { Task } from '../../../lambda/decision/model/snapshot.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { Look } from '../../../lambda/look/look-event.ts';
import { indexServing } from '../../../lambda/look/waits/job-wait.ts';
import { LaunchRequests } from '../../../lambda/look/waits/launch-requests.ts';
import type { Lab } from '../../support/lab.ts';
import { aService, aSnapshot, aTask, NOW, poolName } from '../../support/parts.ts';
import { table } from '../../support/table.ts';
import { startWorld, submit } from './world.ts';

afterEach(() => vi.unstubAllEnvs());

/** The module reads its environment when it is loaded. */
async function loadTelemetry() {
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'test');
  vi.resetModules();
  return import('../../../lambda/telemetry/telemetry.ts');
}

/** The lines that the report of these looks writes. */
async function linesOf(
  { world }: Lab,
  looks: readonly Look['result'][],
): Promise<readonly Record<string, unknown>[]> {
  const { reporterOf } = await loadTelemetry();
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  const errors = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  try {
    const report = reporterOf({
      clock: { now: () => world.timeline.now(), sleep: async () => {} },
      perPool: false,
    });
    for (const result of looks) report({ result, calls: {}, durationMs: 0 });
  } finally {
    spy.mockRestore();
    errors.mockRestore();
  }
  return written
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

type EmbeddedMetrics = {
  readonly CloudWatchMetrics: readonly {
    readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
  }[];
};

async function startedJob(): Promise<{ readonly lab: Lab; readonly looks: readonly Look['result'][] }> {
  const world = await startWorld();
  const before = await world.run(10);
  submit(world);
  return { lab: world, looks: [...before, ...(await world.run(200))] };
}

describe('the report of a look', () => {
  it('has one event about each look, and one about each started job', async () => {
    const { lab, looks } = await startedJob();
    const lines = await linesOf(lab, looks);
    expect(lines.filter(({ message }) => message === 'look')).toHaveLength(looks.length);
    expect(lines.filter(({ message }) => message === 'wait')).toHaveLength(1);
  });

  it('begins with what a person looks for, in a fixed order', async () => {
    const { lab, looks } = await startedJob();
    const [look = {}] = await linesOf(lab, looks.slice(0, 1));
    const begin = ['level', 'message', 'failures', 'findings', 'pending', 'oldestPendingSeconds', 'unserved'];
    const lists = ['applied', 'refused', 'pools', 'groups', 'actions'];
    expect(Object.keys(look).slice(0, 12)).toEqual([...begin, ...lists]);
  });

  it('counts in seconds what is a time, and the rest in numbers', async () => {
    const { lab, looks } = await startedJob();
    const lines = await linesOf(lab, looks);
    const metrics = lines.flatMap(
      ({ _aws }) => (_aws as EmbeddedMetrics | undefined)?.CloudWatchMetrics ?? [],
    );
    const units = new Map(metrics.flatMap((each) => each.Metrics).map(({ Name, Unit }) => [Name, Unit]));
    const inSeconds = [...units].filter(([, unit]) => unit === 'Seconds').map(([name]) => name);
    expect(inSeconds).toEqual(expect.arrayContaining(['OldestPendingAge', 'TickAge', 'WaitForLaunch']));
    expect(inSeconds.filter((name) => !/Age$|^Wait/.test(name))).toEqual([]);
    for (const name of ['PendingJobs', 'Launches', 'FailedStarts']) expect(units.get(name)).toBe('Count');
  });

  it.each([
    { failures: [], findings: [], level: 'INFO' },
    { failures: [], findings: [{ code: 'jobs-list-slow', seconds: 7 }], level: 'WARN' },
    { failures: [{ message: 'no answer' }], findings: [], level: 'ERROR', alarms: 'failing-ticks' },
  ])('has the level $level for $failures and $findings', async ({ failures, findings, ...expected }) => {
    const { lab, looks } = await startedJob();
    const [look] = looks;
    const broken = look && [{ ...look, failures, plan: { ...look.plan, findings } }];
    const lines = await linesOf(lab, broken as unknown as typeof looks);
    expect(lines.find(({ message }) => message === 'look')).toMatchObject(expected);
  });

  it('has the event and the metrics of the look if the waits cannot be computed', async () => {
    const { lab, looks } = await startedJob();
    const broken = looks.map(({ snapshot, ...result }) => ({
      ...result,
      // a job that no schema would let through
      snapshot: { ...snapshot, ecs: { ...snapshot.ecs, tasks: { status: 'ok', items: [null] } } },
    }));
    const lines = await linesOf(lab, broken as unknown as typeof looks);
    expect(lines.filter(({ message }) => message === 'look')).toHaveLength(looks.length);
    expect(lines.filter((line) => 'TickAge' in line)).toHaveLength(looks.length);
    expect(lines.filter(({ level }) => level === 'ERROR')).toMatchObject([
      { message: 'computing the waits of started jobs failed; this look tells none' },
    ]);
  });
});

const at = (minute: number): EpochMs => (NOW + minute * 60_000) as EpochMs;
const service = aService({ tags: [{ key: POOL_TAG, value: 'cpu' }] });
const task = (minute: number): Task => ({
  ...aTask({ group: `service:${service.serviceName}` }),
  createdAt: at(minute),
});
/** Neither counts as a task that ECS made for a request. */
const others: readonly Task[] = [
  { ...task(-9), desiredStatus: 'STOPPED' },
  { ...task(-9), group: 'service:other' },
];
const snapshotAt = (minute: number, tasks: readonly Task[] = []) => ({
  ...aSnapshot({ services: [service], tasks: [...others, ...tasks] }),
  ...{ takenAt: at(minute), clock: at(minute) },
});

type Row = {
  /** Of each look that set the count: its minute, from and to. */
  readonly sets: string;
  /** The minutes in which tasks were made. */
  readonly made: string;
  /** The minutes of the looks that requested them. */
  readonly expected: string;
  readonly because: string;
};

function requestedAt({ sets, made: minutes }: Row): string {
  const made = `${minutes}`.split(' ').map((minute) => task(Number(minute)));
  const requests = new LaunchRequests();
  for (const set of sets.split(', ')) {
    const [minute = 0, from, to] = set.split(' ').map(Number);
    const why = set.endsWith('kept') ? 'count-below-tasks' : 'pending-jobs';
    const action = { kind: 'set-desired', pool: poolName('cpu'), from, to, why };
    const seen = made.filter(({ createdAt = 0 }) => createdAt < at(minute));
    const applied = [action] as unknown as LookResult['outcome']['applied'];
    requests.add(snapshotAt(minute, seen), applied, { durationMs: 0, oldest: at(minute - 60) });
  }
  const last = snapshotAt(59, made.toReversed());
  const found = requests.ofTasks(last, indexServing(last));
  const minuteOf = (one: Task) => ((found.get(one)?.takenAt ?? Number.NaN) - NOW) / 60_000;
  return made.map((one) => minuteOf(one)).join(' ');
}

it.each(table<Row>`
  sets                   | made    | expected | because
  0 0 2                  | 1 1     | 0 0      | a request made both
  0 0 1                  | 1 9     | 0 NaN    | ECS replaced a task
  0 0 1, 2 1 2           | 3 4     | 0 2      | older requests come first
  0 0 3, 5 3 0, 40 0 1   | 41      | '40'     | a lower count took back the first request
  0 0 3, 5 3 2, 40 2 3   | 1 2 41  | 0 0 40   | a lower count took back the one task that ECS had not made
  0 0 3, 5 3 2, 40 2 3   | 1 41 42 | 0 0 40   | a lower count took back one of the two tasks that ECS had not made
  0 0 1, 61 1 2          | 62      | '61'     | a request of an hour ago is forgotten
  0 1 2 kept, 5 2 3      | 6       | '5'      | a count that was raised to the tasks that exist made none
`)('the request that made a task is found: $because', (row) => {
  expect(requestedAt(row)).toBe(row.expected);
});
