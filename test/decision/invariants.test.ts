/**
 * The invariants of the decision in random states, including inconsistent ones. All rules look at the
 * same states: to draw and to decide one takes longer than to check it. fast-check prints the seed of
 * a failure.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Deliberation, decide, deliberate } from '../../lambda/decision/decide.ts';
import { PREBUILDS_USER } from '../../lambda/decision/demand/record.ts';
import type { TaskArn } from '../../lambda/decision/model/brands.ts';
import type { Config, PoolConfig } from '../../lambda/decision/model/config.ts';
import type { Action, Plan } from '../../lambda/decision/model/plan.ts';
import { POOL_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Daemon, Snapshot, Task } from '../../lambda/decision/model/snapshot.ts';
import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import { aPool, NOW, poolName } from '../support/parts.ts';
import { runs } from '../support/runs.ts';
import { oneMoreJob, STRANGER, type Ugly, uglyStates } from '../support/ugly/ugly.ts';

/** A random state, and what is decided about it. */
type Decided = Ugly & {
  readonly deliberation: Deliberation;
  readonly plan: Plan;
  /** The state in another order. */
  readonly mixed: Ugly;
  /** The state right after all actions, before anything else happens, and its plan. */
  readonly second: Snapshot;
  readonly again: Plan;
  /** The plans without a number for `warm`, and with none. */
  readonly stocked: Deliberation;
  readonly unstocked: Plan;
};
type Rules<State> = Readonly<Record<string, (state: State) => void>>;

/** Checks every rule in each state. The error names the rule that does not hold. */
function checkAll<State>(rules: Rules<State>, state: State): void {
  for (const [rule, check] of Object.entries(rules))
    try {
      check(state);
    } catch (cause) {
      throw new Error(`${rule}: ${cause}`, { cause });
    }
}

function decided(ugly: Ugly, by: number): Decided {
  const { snapshot, config } = ugly;
  const deliberation = deliberate(snapshot, config);
  const second = after(ugly, deliberation.plan);
  return {
    ...ugly,
    deliberation,
    plan: deliberation.plan,
    mixed: shuffled(ugly, by),
    second,
    again: decide(second, config),
    stocked: deliberate(snapshot, withWarm(config, 'auto')),
    unstocked: decide(snapshot, withWarm(config, 0)),
  };
}

const tasksOf = ({ ecs }: Snapshot, pool: string): readonly Task[] =>
  ecs.tasks.items.filter(
    ({ group, desiredStatus, lastStatus }) =>
      group === `service:s-${pool}` && desiredStatus === 'RUNNING' && lastStatus !== 'STOPPED',
  );

/** The number of tasks of a pool, from the list or, if it could not be read, from ECS's count. */
const thereOf = (snapshot: Snapshot, pool: string): number => {
  const service = snapshot.ecs.services.items.find(({ serviceName }) => serviceName === `s-${pool}`);
  const counted = snapshot.ecs.tasks.status === 'ok' ? 0 : (service?.runningCount ?? 0);
  return Math.max(tasksOf(snapshot, pool).length, counted);
};

const withWarm = (config: Config, warm: 'auto' | 0): Config => ({
  ...config,
  pools: config.pools.map((pool) => ({ ...pool, warm })),
});

/**
 * Whether a raise by one is due although nothing changed: the daemon of a task that leaves unseen reads as registered
 * while lists are unread, and a raise up to the tasks that ECS runs beyond its count launches none.
 */
function isHidden({ pool, from, to }: ReturnType<typeof counts>[number], { pools }: Deliberation): boolean {
  const view = pools.find(({ need }) => need.view.pool.name === pool)?.need.view;
  const { runningCount = 0, desiredCount = 0 } = view?.service ?? {};
  return to - from === 1 && (view?.areStartsKnown === false || runningCount > desiredCount);
}

const counts = (plan: Plan): readonly Extract<Action, { kind: 'set-desired' }>[] =>
  plan.actions.filter((action) => action.kind === 'set-desired');
const asks = (plan: Plan): readonly Extract<Action, { kind: 'ask-to-leave' }>[] =>
  plan.actions.filter((action) => action.kind === 'ask-to-leave');
const totalOf = (plan: Plan): number =>
  plan.pools.reduce((total, { desired }) => total + (desired.to ?? 0), 0);

/**
 * The number of tasks after the plan. Tasks that have left exist until ECS stops them, whatever the
 * count.
 */
const tasksAfter = (plan: Plan, snapshot: Snapshot): number =>
  plan.pools.reduce(
    (total, { name, desired }) => total + Math.max(desired.to ?? 0, tasksOf(snapshot, name).length),
    0,
  );

/** All rows that may be the daemon of a task. */
function rowsOf(snapshot: Snapshot, taskArn: string): readonly Daemon[] {
  const id = taskArn.slice(taskArn.lastIndexOf('/') + 1);
  return snapshot.coder.organizations
    .flatMap(({ daemons }) => daemons.items)
    .filter(({ name }) => name.endsWith(id) && name !== `${STRANGER}-${id}`);
}

/** Old tasks of each pool that ECS no longer counts after an early success. */
const uncountedIn = ({ pools }: Deliberation): ReadonlyMap<string, number> =>
  new Map(pools.map(({ need }) => [need.view.pool.name, need.capacity.uncounted]));

/** The state right after all actions, before anything else happens. */
function after({ snapshot }: Ugly, plan: Plan): Snapshot {
  const desired = new Map<string, number>(counts(plan).map(({ service, to }) => [service, to]));
  const hours = new Map<string, number>(
    plan.actions.flatMap((action) =>
      action.kind === 'set-desired' ? [] : [[action.task, action.kind === 'protect' ? 0.5 : 23] as const],
    ),
  );
  const { services, protections } = snapshot.ecs;
  return {
    ...snapshot,
    ecs: {
      ...snapshot.ecs,
      services: {
        ...services,
        items: services.items.map((item) => ({
          ...item,
          desiredCount: desired.get(item.serviceArn) ?? item.desiredCount,
        })),
      },
      protections: {
        ...protections,
        items: [
          ...protections.items.filter(({ taskArn }) => !hours.has(taskArn)),
          ...[...hours].map(([arn, left]) => ({
            taskArn: arn as TaskArn,
            protectionEnabled: true,
            expirationDate: (NOW + left * 3_600_000) as typeof NOW,
          })),
        ],
      },
    },
  };
}

/** The same in another order. */
function shuffled({ snapshot, config }: Ugly, by: number): Ugly {
  const shuffle = <T>(items: readonly T[], by: number): readonly T[] =>
    items
      .map((item, index) => [(index * 7919 + by) % 101, item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item);
  const mix = <T extends { readonly items: readonly unknown[] }>(reading: T): T => ({
    ...reading,
    items: shuffle(reading.items, by),
  });
  const mixed: Snapshot = {
    ...snapshot,
    coder: {
      ...snapshot.coder,
      organizations: shuffle(snapshot.coder.organizations, by).map((o) => ({
        ...o,
        jobs: mix(o.jobs),
        daemons: mix(o.daemons),
        previousJobs: mix(o.previousJobs),
        ...(o.recentJobs === undefined ? {} : { recentJobs: mix(o.recentJobs) }),
        ...(o.workspaces === undefined ? {} : { workspaces: mix(o.workspaces) }),
        ...(o.templates === undefined ? {} : { templates: mix(o.templates) }),
      })),
    },
    ecs: {
      ...snapshot.ecs,
      services: mix(snapshot.ecs.services),
      tasks: mix(snapshot.ecs.tasks),
      protections: mix(snapshot.ecs.protections),
    },
  };
  return { snapshot: mixed, config: { ...config, pools: shuffle(config.pools, by) } };
}

/** What holds of every decision. */
const RULES: Rules<Decided> = {
  'plans the same for every order of the input': ({ plan, mixed }) => {
    expect(decide(mixed.snapshot, mixed.config)).toEqual(plan);
  },
  'never drains a busy daemon except to replace it': ({ snapshot, plan }) => {
    for (const { task, why } of asks(plan))
      for (const row of why === 'idle-long-enough' ? rowsOf(snapshot, task) : []) {
        const jobs = snapshot.coder.organizations.flatMap(({ jobs: { items } }) => items);
        expect(row.current_job ?? null).toBeNull();
        expect(jobs.filter((job) => job.worker_id === row.id && job.completed_at == null)).toEqual([]);
        expect(row.status).toBe('idle');
        expect(NOW - (row.last_seen_at ?? 0)).toBeLessThanOrEqual(90_000);
      }
  },
  'drains only tasks with 24 hours or more left on their lease, and each once': ({ snapshot, plan }) => {
    const asked = asks(plan).map(({ task }) => task);
    expect(new Set(asked).size).toBe(asked.length);
    for (const task of asked) {
      const protection = snapshot.ecs.protections.items.find(({ taskArn }) => taskArn === task);
      expect(protection?.protectionEnabled).toBe(true);
      expect((protection?.expirationDate ?? 0) - NOW).toBeGreaterThanOrEqual(24 * 3_600_000);
    }
  },
  'never raises a count above max, beside tasks that drain, have just left, have left or are replaced, nor the sum over maxTasks':
    ({ snapshot, config, plan, deliberation }) => {
      for (const { need, to } of deliberation.pools) {
        const { service, pool } = need.view;
        const { leaving, left, justLeft } = need.capacity;
        const most = Math.min(2 * pool.max, pool.max + justLeft) + leaving + left;
        expect(to).toBeLessThanOrEqual(Math.max(service?.desiredCount ?? 0, most));
      }
      const before = plan.pools.reduce(
        (total, { name, desired }) => total + Math.max(desired.from ?? 0, thereOf(snapshot, name)),
        0,
      );
      expect(totalOf(plan)).toBeLessThanOrEqual(Math.max(config.limits.maxTasks, before));
    },
  'never lowers a count below the number of tasks that have not left': ({ snapshot, plan, deliberation }) => {
    const uncounted = uncountedIn(deliberation);
    for (const action of counts(plan)) {
      const { pool } = action;
      if (action.to > action.from) continue;
      const to = action.to + (uncounted.get(pool) ?? 0);
      const isProtected = new Set(
        snapshot.ecs.protections.items.flatMap(({ taskArn, protectionEnabled }) =>
          protectionEnabled ? [taskArn] : [],
        ),
      );
      const tasks = tasksOf(snapshot, pool);
      const left = plan.pools.find(({ name }) => name === pool)?.daemons.left ?? 0;
      // while ECS refuses leases to new tasks, those that wait in vain are given up: their guards start no daemon
      const failing = deliberation.pools.find(({ need }) => need.view.pool.name === pool)?.need.view.failing;
      if (failing?.isTripped && failing.lacksLease) continue;
      expect(to).toBeGreaterThanOrEqual(tasks.filter(({ taskArn }) => isProtected.has(taskArn)).length);
      expect(to).toBeGreaterThanOrEqual(tasks.length - left);
    }
  },
  'counts as left only tasks without protection, live daemon and job': ({ snapshot, plan }) => {
    for (const { name, daemons } of plan.pools) {
      const mayHaveLeft = tasksOf(snapshot, name).filter(({ taskArn, lastStatus }) => {
        const protection = snapshot.ecs.protections.items.find((item) => item.taskArn === taskArn);
        const isAlive = rowsOf(snapshot, taskArn).some(
          (row) => row.current_job != null || (row.last_seen_at != null && NOW - row.last_seen_at <= 90_000),
        );
        return lastStatus === 'RUNNING' && protection?.protectionEnabled === false && !isAlive;
      });
      expect(daemons.left).toBeLessThanOrEqual(mayHaveLeft.length);
    }
  },
  'never scales in with doubts': ({ snapshot, config, plan }) => {
    const { services, tasks, protections } = snapshot.ecs;
    const isClusterClear = [services, tasks, protections].every(({ status }) => status === 'ok');
    for (const action of plan.actions) {
      if (action.kind === 'protect' || (action.kind === 'set-desired' && action.to > action.from)) continue;
      const pool = config.pools.find(({ name }) => name === action.pool);
      const organization = snapshot.coder.organizations.find(({ name }) => name === pool?.organization);
      const own = [organization?.jobs, organization?.daemons, organization?.previousJobs];
      expect(isClusterClear && own.every((reading) => reading?.status === 'ok')).toBe(true);
    }
  },
  'never drains a daemon because of an incomplete forecast': ({ snapshot, config }) => {
    const organizations = snapshot.coder.organizations.filter(
      ({ workspaces }) => workspaces?.status !== 'ok',
    );
    const without: Snapshot = {
      ...snapshot,
      coder: {
        ...snapshot.coder,
        organizations: organizations.map(({ workspaces, templates, activeVersionTags, ...rest }) => rest),
      },
    };
    const leaving = ({ actions }: Plan): readonly string[] =>
      actions.flatMap((action): readonly string[] => {
        if (action.kind === 'ask-to-leave') return [action.task];
        return action.kind === 'set-desired' && action.to < action.from ? [action.service] : [];
      });
    const doubtful = { ...snapshot, coder: { ...snapshot.coder, organizations } };
    const leavingAnyway = leaving(decide(without, config));
    expect(new Set(leavingAnyway)).toEqual(new Set([...leavingAnyway, ...leaving(decide(doubtful, config))]));
  },
  /*
   * Mostly the second look plans nothing. In about one of 20,000 inconsistent states it launches for a
   * prebuild that waits: a task that the first look launched for people of an overlapping pool is
   * starting by then and can be assigned anew.
   */
  'plans nothing in the third look at an unchanged state': ({ config, second, again, deliberation }) => {
    const { actions } = decide(after({ config, snapshot: second }, again), config);
    expect(
      actions.filter((action) => action.kind !== 'set-desired' || !isHidden(action, deliberation)),
    ).toEqual([]);
  },
  'launches nothing in the second look while no prebuild waits': ({ plan, deliberation, again }) => {
    if (plan.assignment.some((row) => row.for === 'prebuilds')) return;
    // a higher count hides that ECS does not count old tasks, so this many more may be requested once
    if (deliberation.pools.some(({ need }) => need.capacity.uncounted > 0)) return;
    // what the first look protects reads as leaving in the second, and one more than `max` may replace it
    if (plan.actions.some(({ kind }) => kind === 'protect')) return;
    expect(counts(again).filter((action) => !isHidden(action, deliberation))).toEqual([]);
  },
  'gives every pool a reason, and every change its own reason': ({ config, plan }) => {
    expect(plan.pools.map(({ name }) => name)).toEqual(config.pools.map(({ name }) => name).toSorted());
    for (const { name, why, desired } of plan.pools) {
      const codes = why.map(({ code }) => code);
      expect(codes.length).toBeGreaterThan(0);
      expect(new Set(codes).size).toBe(codes.length);
      if (desired.from !== desired.to) expect(codes).not.toContain('nothing-to-do');
      for (const action of plan.actions.filter(({ pool }) => pool === name))
        expect(codes).toContain(action.kind === 'protect' ? 'protecting' : action.why);
    }
  },
  'assigns every pending job once or reports it as unserved': ({ snapshot, plan }) => {
    const pending = snapshot.coder.organizations
      .flatMap(({ jobs }) => jobs.items)
      .filter(({ status }) => status === 'pending').length;
    const sum = (rows: readonly { readonly jobs: number }[]): number =>
      rows.reduce((total, { jobs }) => total + jobs, 0);
    expect(sum(plan.assignment) + sum(plan.unserved)).toBe(pending);
  },
  'keeps no stock in a pool whose warm is a number': ({ deliberation }) => {
    for (const { need } of deliberation.pools)
      if (need.view.pool.warm !== 'auto') expect([need.ready.stock, need.idle.heldForRecord]).toEqual([0, 0]);
  },
  'gives no place to the stock that a job needs': ({ stocked, unstocked }) => {
    const served = (plan: Plan): Readonly<Record<string, number>> => {
      const jobs: Record<string, number> = {};
      for (const row of plan.assignment) {
        if (row.served === 'when-there-is-room' || row.served === 'by-busy') continue;
        const key = JSON.stringify([row.organization, row.tags, row.for]);
        jobs[key] = (jobs[key] ?? 0) + row.jobs;
      }
      return jobs;
    };
    expect(served(stocked.plan)).toEqual(served(unstocked));
  },
  'launches no stock with doubts': ({ stocked, unstocked }) => {
    const without = new Map(unstocked.pools.map(({ name, desired }) => [name, desired.to ?? 0]));
    for (const { doubts, need, to } of stocked.pools) {
      const { pool, service } = need.view;
      if (doubts.length > 0)
        expect(to).toBeLessThanOrEqual(Math.max(service?.desiredCount ?? 0, without.get(pool.name) ?? 0));
    }
  },
  'looks again within a minute, and plans only finite numbers': ({ config, plan }) => {
    expect(plan.lookAgainAfterMs).toBeGreaterThanOrEqual(
      config.looks.everyMs === 'auto' ? 2_000 : config.looks.everyMs,
    );
    expect(plan.lookAgainAfterMs).toBeLessThanOrEqual(60_000);
    // JSON writes null for NaN and infinity
    const numbers = JSON.stringify(plan, (name, value: unknown) =>
      typeof value === 'number' && !Number.isFinite(value) ? `${name} is not finite` : value,
    );
    expect(numbers).not.toContain('is not finite');
  },
  'launches a task for a job of a user in a pool of this user only, and the other way round': (state) => {
    for (const { pool, tags, served } of state.plan.assignment) {
      if (served !== 'by-launch') continue;
      const own = normalizeTags(state.config.pools.find(({ name }) => name === pool)?.tags ?? {});
      const job = normalizeTags(tags);
      expect({ scope: own.scope, owner: own.owner }).toEqual({ scope: job.scope, owner: job.owner });
    }
  },
};

/** The same pools, each with other settings. */
const withPools = (config: Config, settings: Partial<PoolConfig>): Config => ({
  ...config,
  pools: config.pools.map((pool) => ({ ...pool, ...settings })),
});

const OF_NOBODY: PoolConfig = aPool({
  name: poolName('of-nobody'),
  tags: { scope: 'user', owner: 'nobody', a: '1' },
  auth: { kind: 'token', secret: { secret: 'token' } },
});

/** Adds these tags to the first services, replacing earlier overrides. */
function withTags(
  { ecs, ...snapshot }: Snapshot,
  values: Readonly<Record<string, string>>,
  most = Number.POSITIVE_INFINITY,
): Snapshot {
  const added = Object.entries(values).map(([key, value]) => ({ key: `coder-autoscaler:${key}`, value }));
  const items = ecs.services.items.map((service, index) => ({
    ...service,
    tags: [...service.tags.filter(({ key }) => key === POOL_TAG), ...(index < most ? added : [])],
  }));
  return { ...snapshot, ecs: { ...ecs, services: { ...ecs.services, items } } };
}

const until = (ms: number): string => new Date(NOW + ms).toISOString();
const HOUR_ON = until(3_600_000);
const PAUSED = { pause: 'all', 'pause-until': HOUR_ON };
const pin = (count: number) => ({ pin: `${count}`, 'pin-until': HOUR_ON });

const raises = ({ actions }: Plan): readonly Action[] =>
  actions.filter((action) => action.kind === 'set-desired' && action.to > action.from);
const lowersOrAsks = ({ actions }: Plan): readonly Action[] =>
  actions.filter(
    (action) => action.kind === 'ask-to-leave' || (action.kind === 'set-desired' && action.to < action.from),
  );

/** The number of coming transitions of each kind, whichever pool is awake for them. */
function transitionsIn({ forecast }: Plan): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { organization, tags, kind, transitions } of forecast) {
    const key = JSON.stringify([organization, tags, kind]);
    found[key] = (found[key] ?? 0) + transitions;
  }
  return found;
}

/** How long the protection of a task lasts, in milliseconds. */
function leftOf({ ecs }: Snapshot, arn: string): number {
  const found = ecs.protections.items.find(({ taskArn }) => taskArn === arn);
  return found?.protectionEnabled ? (found.expirationDate ?? NOW) - NOW : 0;
}

function expectBusyProtected({ snapshot, config }: Ugly, plan: Plan): void {
  if (snapshot.ecs.services.items.length === 0) return;
  const kept = new Set<string>(
    plan.actions.flatMap((action) => (action.kind === 'protect' ? action.task : [])),
  );
  const jobs = snapshot.coder.organizations.flatMap((organization) => organization.jobs.items);
  const busy = new Set(jobs.filter((job) => job.completed_at == null).map((job) => job.worker_id));
  for (const task of snapshot.ecs.tasks.items) {
    if (task.lastStatus !== 'RUNNING' || task.desiredStatus !== 'RUNNING') continue;
    const pool = config.pools.find(({ name }) => task.group === `service:s-${name}`);
    const { startedAt = Number.POSITIVE_INFINITY } = task;
    const rows = snapshot.coder.organizations
      .filter(({ name }) => name === pool?.organization)
      .flatMap(({ daemons }) => daemons.items)
      .filter(({ name, last_seen_at }) => name === 'ip-10-0-0-1' && (last_seen_at ?? 0) >= startedAt);
    if (!rows.some((row) => busy.has(row.id))) continue;
    // a protection that was not read may be a guard's lease
    if (!snapshot.ecs.protections.items.some(({ taskArn }) => taskArn === task.taskArn)) continue;
    expect(kept.has(task.taskArn) || leftOf(snapshot, task.taskArn) >= 20 * 60_000).toBe(true);
  }
}

type Changed = Ugly & {
  /** How many services get overrides. */
  readonly most: number;
  /** The plan without overrides. */
  readonly plain: Plan;
};

/** What holds of the same state with other settings or overrides. */
const CHANGED: Rules<Changed> = {
  'launches nothing in a retiring pool': ({ snapshot, config }) => {
    const plan = decide(snapshot, withPools(config, { retiring: true }));
    for (const action of raises(plan)) expect(action.why).toBe('count-below-tasks');
    expect(plan.assignment.filter(({ pool, served }) => pool !== null && served !== 'by-free')).toEqual([]);
  },
  'plans the same for all other pools beside a pool of a user without jobs': ({ snapshot, config }) => {
    // else its service may be unread, and it counts against the limits
    if (snapshot.ecs.services.status !== 'ok') return;
    const plan = decide(snapshot, config);
    const beside = decide(snapshot, { ...config, pools: [...config.pools, OF_NOBODY] });
    expect(beside.actions).toEqual(plan.actions);
    expect(beside.unserved.map(({ jobs }) => jobs)).toEqual(plan.unserved.map(({ jobs }) => jobs));
  },
  'protects each busy task without a guard for 20 min, if its protection was read': (state) =>
    expectBusyProtected(state, state.plain),
  'keeps all transitions in the forecast with overrides': ({ snapshot, config, most, plain }) => {
    for (const override of [PAUSED, pin(0), pin(2)])
      expect(transitionsIn(decide(withTags(snapshot, override, most), config))).toEqual(transitionsIn(plain));
  },
  'plans no action except protect in a pause': ({ snapshot, config }) => {
    const { actions } = decide(withTags(snapshot, PAUSED), config);
    expect(actions.filter(({ kind }) => kind !== 'protect')).toEqual([]);
  },
  'drains nothing and lowers no count while scale-in is paused or an override is malformed': (state) => {
    for (const tags of [{ pause: 'scale-in', 'pause-until': HOUR_ON }, { floor: '2' }])
      expect(lowersOrAsks(decide(withTags(state.snapshot, tags), state.config))).toEqual([]);
  },
  'launches nothing with a pin at zero': ({ snapshot, config }) => {
    for (const action of raises(decide(withTags(snapshot, pin(0)), config)))
      expect(action.why).toBe('count-below-tasks');
  },
  'ignores an expired override': ({ snapshot, config, plain }) => {
    const expired = withTags(snapshot, { ...PAUSED, 'pause-until': until(0) });
    expect(decide(expired, config)).toEqual(plain);
  },
};

it('keeps every rule in random states', () => {
  fc.assert(
    fc.property(uglyStates({ view: 'any' }), fc.integer({ min: 1, max: 100 }), (ugly, by) => {
      checkAll(RULES, decided(ugly, by));
    }),
    runs(1000),
  );
});

it('keeps every rule of retiring pools, pools without guards and overrides in random states', () => {
  fc.assert(
    fc.property(uglyStates({ view: 'any' }), fc.constantFrom(1, 4), (ugly, most) => {
      const plain = decide(withTags(ugly.snapshot, {}), ugly.config);
      checkAll(CHANGED, { ...ugly, most, plain });
    }),
    runs(500),
  );
});

/** A job from the future is a doubt, and with doubts no task is replaced. */
const inThePast = ({ snapshot, config }: Ugly): Ugly => {
  const organizations = snapshot.coder.organizations.map((organization) => {
    const { jobs, daemons } = organization;
    const past = <T>(value: T): T => (typeof value === 'number' ? (Math.min(value, NOW) as T) : value);
    return {
      ...organization,
      jobs: { ...jobs, items: jobs.items.map((job) => ({ ...job, created_at: past(job.created_at) })) },
      daemons: {
        ...daemons,
        items: daemons.items.map((row) => ({ ...row, last_seen_at: past(row.last_seen_at) })),
      },
    };
  });
  const tasks = snapshot.ecs.tasks.items.map((task) => ({
    ...task,
    ...(task.startedAt === undefined ? {} : { startedAt: Math.min(task.startedAt, NOW) as typeof NOW }),
  }));
  return {
    config,
    snapshot: {
      ...snapshot,
      coder: { ...snapshot.coder, organizations },
      ecs: { ...snapshot.ecs, tasks: { ...snapshot.ecs.tasks, items: tasks } },
    },
  };
};

it('never plans fewer tasks for one more pending job', () => {
  fc.assert(
    fc.property(
      uglyStates({ view: 'full' }).map(inThePast),
      oneMoreJob,
      ({ snapshot, config: given }, job) => {
        // while prebuilds wait, no stock is launched, because they would take its daemons
        const config = job.initiator_id === PREBUILDS_USER ? withWarm(given, 0) : given;
        const more: Snapshot = {
          ...snapshot,
          coder: {
            ...snapshot.coder,
            organizations: snapshot.coder.organizations.map((o) =>
              o.id === job.organization_id ? { ...o, jobs: { ...o.jobs, items: [...o.jobs.items, job] } } : o,
            ),
          },
        };
        const before = decide(snapshot, config);
        // one more job can also resolve a contradiction, which ends a hold
        fc.pre(before.findings.every(({ code }) => code !== 'jobs-empty-while-busy'));
        const withJob = decide(more, config);
        // a job from the future is a doubt, and with doubts no task is replaced
        fc.pre(withJob.findings.every(({ code }) => code !== 'clocks-differ'));
        expect(tasksAfter(withJob, snapshot)).toBeGreaterThanOrEqual(tasksAfter(before, snapshot));
      },
    ),
    runs(1000),
  );
});
