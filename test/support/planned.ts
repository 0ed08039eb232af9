/**
 * Computes the plan for a picture, and its actions as text. A test can change what no picture
 * shows.
 */
import type { Action, Plan, PoolPlan } from '../../lambda/decision/model/plan.ts';
import { planSnapshot } from '../../lambda/plan-snapshot.ts';
import { type Drawn, draw, type Picture, taskArn } from './picture.ts';
import { pictureOf } from './world-in-words.ts';

export type Change = (snapshot: Drawn['snapshot'], config: Drawn['config']) => void;

/** The plan for a picture, which may be in words (`world-in-words.ts`). */
export function planOf(picture: Picture | string, change: Change = () => {}): Plan {
  const { snapshot, config } = draw(typeof picture === 'string' ? pictureOf(picture) : picture);
  change(snapshot, config);
  return planSnapshot(snapshot, config);
}

export function poolOf(plan: Plan, name: string): PoolPlan {
  const pool = plan.pools.find((item) => item.name === name);
  if (pool === undefined) throw new Error(`no pool ${name}`);
  return pool;
}

/** What a plan does: `cpu 2->5 pending-jobs`, `ask cpu#1`. */
export function actionsOf({ actions }: Plan): readonly string[] {
  return actions.map(describe);
}

/** The same, with the reason of each request to leave: `ask cpu#1 idle`. */
export function reasonedActionsOf({ actions }: Plan): readonly string[] {
  return actions.map((action) =>
    action.kind === 'set-desired' ? describe(action) : `${describe(action)} ${action.why}`,
  );
}

/** Actions as one text. */
export const inWords = (actions: readonly string[]): string => actions.join(', ') || 'nothing';

function describe(action: Action): string {
  if (action.kind === 'set-desired') return `${action.pool} ${action.from}->${action.to} ${action.why}`;
  const { pool, task } = action;
  return `ask ${pool}#${[...Array(20).keys()].find((index) => taskArn(pool, index) === task)}`;
}

/** Changes fields of one item of a list. Throws if there is no such item. */
export function edit(items: readonly object[], index: number, fields: object): void {
  const item = items[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  Object.assign(item, fields);
}

/** The only organization of a snapshot. */
export function organizationIn(snapshot: Drawn['snapshot']) {
  const [organization] = snapshot.coder.organizations;
  if (organization === undefined) throw new Error('no organization');
  return organization;
}

/** The reason why ECS could not start the tasks. */
export const PULL_FAILURE = 'CannotPullContainerError: pull image manifest has been retried 7 time(s)';

/** Tasks of a pool that could not start and stopped 1, 2, … minutes ago. */
export function addFailedStarts(snapshot: Drawn['snapshot'], pool: string, count: number): void {
  for (let minutes = 1; minutes <= count; minutes++) {
    const at = (minutesAgo: number): string =>
      new Date(Date.parse(snapshot.takenAt) - minutesAgo * 60_000).toISOString();
    snapshot.ecs.tasks.items.push({
      taskArn: taskArn(pool, 100 + minutes),
      group: `service:Stack-${pool}`,
      lastStatus: 'STOPPED',
      desiredStatus: 'STOPPED',
      createdAt: at(minutes + 1),
      stoppedAt: at(minutes),
      stopCode: 'TaskFailedToStart',
      stoppedReason: PULL_FAILURE,
      containers: [],
    });
  }
}
