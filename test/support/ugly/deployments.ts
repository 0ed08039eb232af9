/** Ugly states with more of what keeps a pool from launching. */
import fc from 'fast-check';
import { spotPartOf } from '../../../lambda/decision/model/brands.ts';
import type { Service } from '../../../lambda/decision/model/snapshot.ts';
import { ago, HOUR } from '../parts.ts';
import { type Ugly, uglyStates } from './ugly.ts';

/** Every other task of these pools is on Spot, in a service of its own. */
function split({ snapshot, config }: Ugly, names: ReadonlySet<string>): Ugly {
  const isSplit = (name: string): boolean => names.has(name);
  const { services, tasks } = snapshot.ecs;
  const onSpot = (taskArn: string): boolean => Number.parseInt(taskArn.slice(-1), 16) % 2 === 1;
  const items = tasks.items.map((task) =>
    onSpot(task.taskArn) && isSplit(task.group?.slice('service:s-'.length) ?? '')
      ? { ...task, group: `${task.group}-spot` }
      : task,
  );
  const counted = (group: string): number =>
    items.filter((task) => task.group === group && task.desiredStatus === 'RUNNING').length;
  const parts = (service: Service): readonly Service[] => {
    const pool = service.serviceName.slice(2);
    if (!isSplit(pool)) return [service];
    const spot = `${service.serviceName}-spot`;
    const desired = Math.min(service.desiredCount, counted(`service:${spot}`));
    const tags = [{ key: 'coder-autoscaler:pool', value: spotPartOf(pool) }];
    const onSpot = { serviceArn: `arn:${spot}` as Service['serviceArn'], serviceName: spot, tags };
    return [
      { ...service, desiredCount: service.desiredCount - desired },
      { ...service, ...onSpot, desiredCount: desired, events: [] },
    ];
  };
  return {
    snapshot: {
      ...snapshot,
      ecs: {
        ...snapshot.ecs,
        services: { ...services, items: services.items.flatMap(parts) },
        tasks: { ...tasks, items },
      },
    },
    config: {
      ...config,
      pools: config.pools.map((pool) =>
        isSplit(pool.name) ? { ...pool, spot: false, capacity: ['spot', 'on-demand'] as const } : pool,
      ),
    },
  };
}

/** Tasks that never had a daemon, or that have no lease. */
function withoutLease({ snapshot, config }: Ugly, kinds: readonly Kind[]): Ugly {
  const { coder, ecs } = snapshot;
  const kindOf = (id: string): Kind => kinds[Number.parseInt(id.slice(-2), 16) % kinds.length] ?? 'as drawn';
  const items = ecs.tasks.items.map((task) =>
    kindOf(task.taskArn) === 'as drawn'
      ? task
      : { ...task, lastStatus: 'RUNNING', desiredStatus: 'RUNNING', startedAt: ago(3 * HOUR) },
  );
  const protections = ecs.protections.items.filter(({ taskArn }) => kindOf(taskArn) === 'as drawn');
  const without = items.flatMap(({ taskArn }) =>
    kindOf(taskArn) === 'as drawn' ? [] : [{ taskArn, protectionEnabled: false }],
  );
  return {
    config,
    snapshot: {
      ...snapshot,
      coder: {
        ...coder,
        organizations: coder.organizations.map(({ daemons, ...rest }) => ({
          ...rest,
          daemons: { ...daemons, items: daemons.items.filter(({ name }) => kindOf(name) !== 'vacant') },
        })),
      },
      ecs: {
        ...ecs,
        tasks: { ...ecs.tasks, items },
        protections: { ...ecs.protections, items: [...protections, ...without] },
      },
    },
  };
}

type Kind = 'as drawn' | 'vacant' | 'unguarded';

/** Ugly states with vacant and unguarded tasks, pools in two parts, and a limit in dollars. */
export const deployments: fc.Arbitrary<Ugly> = fc
  .record({
    ugly: fc.oneof(uglyStates({ view: 'full' }), uglyStates({ view: 'any' })),
    parts: fc.subarray(['p0', 'p1', 'p2', 'p3']),
    dollarsPerHour: fc.constantFrom(undefined, undefined, 0.05, 0.3, 1),
    kinds: fc.array(fc.constantFrom<Kind>('as drawn', 'as drawn', 'vacant', 'unguarded'), { minLength: 1 }),
  })
  .map(({ ugly, parts, dollarsPerHour, kinds }) => {
    const { snapshot, config } = split(withoutLease(ugly, kinds), new Set(parts));
    const limits = { ...config.limits, ...(dollarsPerHour === undefined ? {} : { dollarsPerHour }) };
    return { snapshot, config: { ...config, limits } };
  });
