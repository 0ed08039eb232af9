import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import type { Action, OverrideKind } from '../../../../lambda/decision/model/plan.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../lambda/decision/model/units.ts';
import { tagsOfOverride } from '../../../../lambda/decision/settings/overrides.ts';
import type { LookResult } from '../../../../lambda/look/look.ts';
import type { OrphanEvent } from '../../../../lambda/look/orphan-event.ts';
import { auditLedger, DaemonRows } from '../../../proof/random-worlds/audit-ledger.ts';
import { LookLog } from '../../../proof/random-worlds/look-log.ts';
import { stopFrozen, unsettled } from '../../../proof/random-worlds/settled.ts';
import { Fleet, type FleetPool } from '../../../proof/random-worlds/world/fleet.ts';
import { drawPlan } from '../../../proof/random-worlds/world/plan.ts';
import type { EcsTask } from '../../../world/ecs/task.ts';
import { World } from '../../../world/world.ts';

function aFleet() {
  const pool = { min: 0, max: 5, warm: 0, idleTimeoutS: 60, image: 'guarded', retiring: false } as const;
  const pools: readonly FleetPool[] = [
    { ...pool, name: 'gpu', organization: 'default', tags: { cluster: 'gpu' } },
    { ...pool, name: 'gpu-eu', organization: 'default', tags: { cluster: 'gpu', region: 'eu' } },
  ];
  const world = new World({ ...drawPlan(1).world, pools });
  const fleet = new Fleet(world, pools);
  const retiring = () => fleet.pools.filter((it) => it.retiring).map(({ name }) => name);
  return { world, fleet, retiring };
}

describe('Fleet', () => {
  it('renames a pool by adding another pool with its own service and key', () => {
    const { world, fleet, retiring } = aFleet();
    fleet.retire({ pool: 'gpu', isRenamed: true });
    expect(retiring()).toEqual(['gpu']);
    expect(fleet.pools.at(-1)).toMatchObject({ name: 'gpu-next', tags: { cluster: 'gpu' }, retiring: false });
    expect(world.service('gpu-next').state.desiredCount).toBe(1);
    expect(world.secrets.find('coder/keys/gpu-next')).toBeDefined();
  });

  it('retires the renamed pool when it takes the original back, since two pools must not share tags', () => {
    const { fleet, retiring } = aFleet();
    fleet.retire({ pool: 'gpu', isRenamed: true });
    fleet.takeBack('gpu');
    expect(retiring()).toEqual(['gpu-next']);
  });

  it('says how long a pool that looks could see fitted a job', () => {
    const { world, fleet } = aFleet();
    const from = world.timeline.now();
    const pass = (minutes: number) =>
      world.timeline.advanceTo(plusMs(world.timeline.now(), minutes * MINUTE_MS));
    const organizationId = world.coderd.organizationId('default');
    const minutesFor = (tags: Readonly<Record<string, string>>) =>
      fleet.fittedMs({ organizationId, tags }, { from, to: world.timeline.now() }) / MINUTE_MS;
    pass(1);
    fleet.retire({ pool: 'gpu-eu', isRenamed: false });
    pass(2);
    fleet.setHidden('gpu', true);
    expect(fleet.poolsFor({ organizationId, tags: { cluster: 'gpu' } })).toEqual([]);
    pass(4);
    fleet.setHidden('gpu', false);
    pass(8);
    expect(minutesFor({ cluster: 'gpu' })).toBe(11);
    expect(minutesFor({ region: 'eu' })).toBe(1);
    expect(minutesFor({ region: 'us' })).toBe(0);
    expect(fleet.fittedMs({ organizationId, tags: { cluster: 'gpu' } }, { from, to: from })).toBe(0);
  });

  it.each([
    { pools: ['gpu'], expected: ['gpu'], because: 'gpu-eu can run the jobs of gpu' },
    { pools: ['gpu-eu'], expected: [], because: 'gpu lacks the region tag' },
    { pools: ['gpu', 'gpu-eu'], expected: [], because: 'no pool is left that can run their jobs' },
  ])('takes back needed pools: of $pools, $expected stay retired, since $because', ({ pools, expected }) => {
    const { fleet, retiring } = aFleet();
    for (const pool of pools) fleet.retire({ pool, isRenamed: false });
    fleet.takeBackNeeded();
    expect(retiring()).toEqual(expected);
  });
});

const CPU = { name: 'cpu', organization: 'default', tags: {}, min: 0, max: 5, warm: 0, idleTimeoutS: 60 };

type Options = { readonly happen?: (world: World) => void; readonly retired?: readonly string[] };

function restOf(pool: Partial<FleetPool>, { happen = () => {}, retired = [] }: Options = {}) {
  const pools: readonly FleetPool[] = [{ ...CPU, image: 'guarded', retiring: false, ...pool }];
  const world = new World({ ...drawPlan(1).world, readLagMs: 0, latencies: {}, pools });
  const pass = (minutes: number) =>
    world.timeline.advanceTo(plusMs(world.timeline.now(), minutes * MINUTE_MS));
  pass(10);
  happen(world);
  pass(1);
  return unsettled(world, pools, { held: new Set(), retired: new Set(retired) });
}

describe('unsettled', () => {
  it.each([
    { pool: { desiredCount: 2, min: 2 }, because: 'keeps its min' },
    { pool: { desiredCount: 3, min: 1, warm: 3 }, because: 'keeps its warm daemons' },
    { pool: { desiredCount: 0 }, because: 'keeps no task' },
    { pool: { desiredCount: 3, min: 1, warm: 'auto' as const }, because: 'keeps what it has learned' },
  ])('finds nothing when a pool $because', ({ pool }) => {
    expect(restOf(pool)).toEqual([]);
  });

  it('reports a pool that is above its floor', () => {
    expect(restOf({ desiredCount: 2 })).toEqual([
      'pool "cpu": its desired count is 2, but its floor is 0',
      'pool "cpu": its floor is 0, but its tasks are: working, working',
    ]);
  });

  it('reports a retiring pool until it has no task and the plan reports it as retired', () => {
    const retiring = { min: 1, warm: 2, retiring: true };
    expect(restOf({ ...retiring, desiredCount: 0 }, { retired: ['cpu'] })).toEqual([]);
    expect(restOf({ ...retiring, desiredCount: 0 })).toEqual([
      'pool "cpu": it is retiring and the plan does not report it as retired',
    ]);
    expect(restOf({ ...retiring, desiredCount: 1 }, { retired: ['cpu'] })).toEqual([
      'pool "cpu": its desired count is 1, but its floor is 0',
      'pool "cpu": its floor is 0, but its tasks are: working',
    ]);
  });

  it('reports a task that is leaving', () => {
    const ask = (world: World) => {
      for (const { identity } of world.service('cpu').tasks) world.ecs.protect(identity.id, 1380);
    };
    expect(restOf({ desiredCount: 1, min: 1 }, { happen: ask })).toEqual([
      'pool "cpu": its floor is 1, but its tasks are: left',
    ]);
  });

  it('reports a deployment in progress and a job that has not ended', () => {
    const happen = (world: World) => {
      world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60 * MINUTE_MS });
      world.deploy('cpu');
    };
    expect(restOf({ desiredCount: 1, min: 1 }, { happen })).toEqual([
      'jobs that have not ended: 1',
      'pool "cpu": its deployment is IN_PROGRESS; older deployments: 1',
    ]);
  });
});

// What the audit of the ledger finds in worlds whose deaths are known.

/** A world in which a host failure has just killed a build. */
function afterADeath() {
  const rows = new DaemonRows();
  const pools = [{ name: 'cpu', organization: 'default', tags: {} }];
  const world: World = new World({
    ...drawPlan(1).world,
    pools,
    onTaskStopped: (task: EcsTask) => rows.taskStopped(world, task),
  });
  const pass = (minutes: number) =>
    world.timeline.advanceTo(plusMs(world.timeline.now(), minutes * MINUTE_MS));
  pass(5);
  world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60 * MINUTE_MS });
  pass(1);
  for (const { identity } of world.service('cpu').tasks) world.ecs.hostFailure(identity.id);
  const [kill] = world.kills();
  if (kill === undefined) throw new Error('no build was killed');
  const { job, task } = kill;
  const diedAt = world.timeline.now();
  const audit = (orphans: readonly string[], blindSpans: readonly Span[] = []) =>
    auditLedger({
      ...{ world, rows, blindSpans },
      crashes: [],
      log: { orphans: new Map(orphans.map((id) => [id, { job: id } as unknown as OrphanEvent])) },
    });
  /** A look so many minutes later sees the stopped task, and the daemon's row if coderd has it. */
  const look = (minutes: number, { daemons = 'ok' } = {}) => {
    pass(minutes);
    const whole = { status: 'ok', items: [] };
    const { arn: taskArn, id } = task.identity;
    const stopped = { taskArn, stoppedAt: diedAt };
    const organization = { daemons: { status: daemons, items: [{ name: `cpu-${id}` }] } };
    rows.add({
      snapshot: {
        takenAt: world.timeline.now(),
        ecs: { services: whole, tasks: { ...whole, items: [stopped] } },
        coder: { organizations: [{ jobs: whole, previousJobs: whole, ...organization }] },
      },
    } as unknown as LookResult);
  };
  return { world, pass, audit, look, diedAt, job: job.id as string, task: task.identity.id };
}

type Span = { readonly from: number; readonly to: number };

describe('the audit of the ledger', () => {
  it('finds nothing wrong if the looks listed exactly the build that died', () => {
    const { audit, job, pass } = afterADeath();
    pass(60);
    expect(audit([job])).toEqual({
      figures: { died: 1, listed: 1, unknowable: 0 },
      problems: [],
    });
  });

  it('finds a build that no look listed', () => {
    const { audit, job, pass } = afterADeath();
    pass(60);
    const { figures, problems } = audit([]);
    expect(figures).toMatchObject({ died: 1, listed: 0, unknowable: 0 });
    expect(problems).toEqual([expect.stringContaining(`no look reported that job ${job} died`)]);
  });

  it('finds a build that a look invented', () => {
    const { audit, job } = afterADeath();
    const { figures, problems } = audit([job, 'another']);
    expect(figures).toMatchObject({ died: 1, listed: 1 });
    expect(problems).toEqual([expect.stringContaining('a look reported that job another died')]);
  });

  it('allows a build to be missing that died while lists were hidden, and counts it', () => {
    const { audit, pass, diedAt } = afterADeath();
    pass(60);
    expect(audit([], [{ from: diedAt, to: diedAt + 30 * MINUTE_MS }])).toEqual({
      figures: { died: 1, listed: 0, unknowable: 1 },
      problems: [],
    });
  });

  it('finds a build that no look listed, although one saw its task and its daemon between hidden lists', () => {
    const { audit, pass, look, diedAt } = afterADeath();
    look(3);
    pass(60);
    const hidden = { from: diedAt + 5 * MINUTE_MS, to: diedAt + 30 * MINUTE_MS };
    expect(audit([], [hidden]).problems).toHaveLength(1);
  });

  it.each([
    { name: 'the task had not been stopped for two minutes', minutes: 1, daemons: 'ok' },
    { name: 'the list of daemons is not whole', minutes: 3, daemons: 'truncated' },
  ])('expects no report of a look if $name', ({ minutes, daemons }) => {
    const { audit, pass, look, diedAt } = afterADeath();
    look(minutes, { daemons });
    pass(60);
    const hidden = { from: diedAt + 5 * MINUTE_MS, to: diedAt + 30 * MINUTE_MS };
    expect(audit([], [hidden]).problems).toEqual([]);
  });

  it('finds a build that no look listed, although lists were hidden before it died', () => {
    const { audit, pass, diedAt } = afterADeath();
    pass(60);
    expect(audit([], [{ from: diedAt - 30 * MINUTE_MS, to: diedAt - 1 }]).problems).toHaveLength(1);
  });

  it('allows a build to be missing whose daemon lost its row with its key, and counts it', () => {
    const { world, audit, pass } = afterADeath();
    world.deleteKey('cpu');
    pass(60);
    expect(audit([])).toEqual({
      figures: { died: 1, listed: 0, unknowable: 1 },
      problems: [],
    });
  });
});

const READ_LAG_MS = 10 * SECOND_MS;

function aWorld() {
  const pools = [{ name: 'cpu', organization: 'default', tags: {} }];
  const world = new World({ ...drawPlan(1).world, pools, historyMs: 3_600_000 });
  const log = new LookLog({ world, readLagMs: READ_LAG_MS, print: undefined });
  const pass = (seconds: number) =>
    world.timeline.advanceTo(plusMs(world.timeline.now(), seconds * SECOND_MS));
  const override = (kind: OverrideKind, seconds: number) => {
    const until = new Date(world.timeline.now() + seconds * SECOND_MS).toISOString();
    const service = world.service('cpu');
    service.setTags({ ...service.state.tags, ...tagsOfOverride({ kind, until, by: 'anna', why: 'a test' }) });
  };
  pass(60);
  return { world, log, pass, override };
}

/** The result of a look with these actions. */
function resultOf(...actions: readonly object[]): LookResult {
  const done = actions.map((action) => ({ pool: 'cpu', why: 'test', ...action })) as unknown as Action[];
  const result = {
    plan: { actions: done, findings: [], pools: [] },
    outcome: { applied: done, refused: [], failures: [] },
    failures: [],
  };
  return result as unknown as LookResult;
}

const ASK = { kind: 'ask-to-leave', task: 'arn:1' };
const RAISE = { kind: 'set-desired', from: 1, to: 2 };
const LOWER = { kind: 'set-desired', from: 2, to: 1 };
const PROTECT = { kind: 'protect', task: 'arn:1' };

it.each([
  { freezing: 1, code: 'tasks-draining-without-daemon', stopped: 1, because: 'nothing else ends it soon' },
  { freezing: 0, code: 'tasks-draining-without-daemon', stopped: 0, because: 'its guard may be at work' },
  {
    freezing: 1,
    code: 'tasks-draining-for-long',
    stopped: 0,
    because: 'the plan does not say that it is stuck',
  },
])(
  'a person stops $stopped tasks ($code, frozen: $freezing), since $because',
  ({ freezing, code, stopped }) => {
    const { world, log, pass } = aWorld();
    world.ecs.freezing = freezing;
    world.ecs.setDesiredCount(world.service('cpu').identity.name, 2);
    pass(600);
    const task = [...world.service('cpu').tasks].at(-1)?.identity;
    const result = resultOf();
    const findings = [{ code, pool: 'cpu', tasks: [task?.arn] }];
    log.add({ ...result, plan: { ...result.plan, findings } } as unknown as LookResult, SECOND_MS);
    expect(stopFrozen(world, log.report.stuck)).toEqual(stopped === 0 ? [] : [task?.id]);
    pass(600);
    expect(world.ecs.findTask(task?.id ?? '')?.state.lastStatus ?? 'STOPPED').toBe(
      stopped === 0 ? 'RUNNING' : 'STOPPED',
    );
  },
);

describe('pauseViolations', () => {
  it.each([
    { pause: 'pause', actions: [RAISE, ASK, LOWER], problems: 3, because: 'a pause forbids all of them' },
    { pause: 'pause', actions: [PROTECT], problems: 0, because: 'a protection saves a build' },
    { pause: 'pause-scale-in', actions: [RAISE, PROTECT], problems: 0, because: 'the pool may scale out' },
    { pause: 'pause-scale-in', actions: [ASK, LOWER], problems: 2, because: 'the pool must not scale in' },
    { pause: 'floor', actions: [RAISE, ASK, LOWER], problems: 0, because: 'a floor is not a pause' },
  ] as const)(
    'reports $problems problems for $actions.length actions under the override $pause: $because',
    ({ pause, actions, problems }) => {
      const { log, pass, override } = aWorld();
      override(pause, 3600);
      pass(60);
      log.add(resultOf(...actions), SECOND_MS);
      expect(log.problems).toHaveLength(problems);
    },
  );

  it.each([
    { setBefore: 12, lasts: 60, problems: 1, because: 'every read has seen the pause' },
    { setBefore: 10, lasts: 60, problems: 0, because: 'a lagging read may have missed the pause' },
    { setBefore: 12, lasts: 11, problems: 0, because: 'the pause has expired' },
  ])(
    'reports $problems problems for a pause of $lasts s set $setBefore s before the look ends: $because',
    ({ setBefore, lasts, problems }) => {
      const { log, pass, override } = aWorld();
      override('pause', lasts);
      pass(setBefore);
      log.add(resultOf(ASK), SECOND_MS);
      expect(log.problems).toHaveLength(problems);
    },
  );
});

it('LookLog reports a task once when it gets more than 20 drain requests', () => {
  const { log } = aWorld();
  for (let look = 0; look < 20; look++) log.add(resultOf(ASK), SECOND_MS);
  expect(log.problems).toEqual([]);
  for (let look = 0; look < 20; look++) log.add(resultOf(ASK), SECOND_MS);
  expect(log.problems).toEqual(['task arn:1 got more than 20 drain requests']);
});
