/**
 * Computes the plan for a picture, and its actions as text. A test can change what no picture
 * shows.
 */
import type { Action, Plan, PoolPlan } from '../../lambda/decision/model/plan.ts';
import { NOW } from './parts.ts';
import { type Drawn, draw, idOf, type Picture, taskArn } from './picture.ts';
import { planSnapshot } from './plan-snapshot.ts';
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

/**
 * Reasons or findings as one text: `pending-jobs jobs 2, floor count 2 from warm`. A task is
 * `cpu#0`, and a failed pull of the image is `pull`.
 */
export const codesInWords = (items: readonly { readonly code: string }[]): string =>
  inWords(items.map(codeInWords));

function codeInWords({ code, ...fields }: { readonly code: string }): string {
  const words = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${wordOf(value)}`],
  );
  return [code, ...words].join(' ');
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordOf).join('+');
  if (value === PULL_FAILURE) return 'pull';
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  const [pool, index] = placeOf(String(value)) ?? [];
  return pool === undefined ? String(value) : `${pool}#${index}`;
}

/** The pool and the number of a task, from its ARN or the name of its daemon. */
function placeOf(text: string): readonly [pool: string, index: number] | undefined {
  for (const pool of ['cpu', 'gpu'])
    for (const index of Array(20).keys())
      if (text === taskArn(pool, index) || text === `${pool}-${idOf(pool, index)}`) return [pool, index];
  return undefined;
}

function describe(action: Action): string {
  if (action.kind === 'set-desired') return `${action.pool} ${action.from}->${action.to} ${action.why}`;
  const { kind, pool, task } = action;
  return `${kind === 'protect' ? kind : 'ask'} ${pool}#${[...Array(20).keys()].find((index) => taskArn(pool, index) === task)}`;
}

/** Changes fields of one item of a list. Throws if there is no such item. */
export function edit(items: readonly object[], index: number, fields: object): void {
  const item = items[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  Object.assign(item, fields);
}

/** Changes fields of the first service, of a task, of its protection, of a daemon or of the first pool. */
export const serviceIs =
  (fields: object): Change =>
  ({ ecs }) =>
    edit(ecs.services.items, 0, fields);
export const taskIs =
  (index: number, fields: object): Change =>
  ({ ecs }) =>
    edit(ecs.tasks.items, index, fields);
export const protectionIs =
  (index: number, fields: object): Change =>
  ({ ecs }) =>
    edit(ecs.protections.items, index, fields);
export const daemonIs =
  (index: number, fields: object): Change =>
  (snapshot) =>
    edit(organizationIn(snapshot).daemons.items, index, fields);
export const poolIs =
  (fields: object): Change =>
  (_, config) =>
    edit(config.pools as object[], 0, fields);

/** Changes fields of a list of ECS or of the only organization. */
export const listIs =
  (
    name: 'services' | 'tasks' | 'protections' | 'jobs' | 'daemons' | 'previousJobs',
    fields: object,
  ): Change =>
  (snapshot) =>
    Object.assign({ ...organizationIn(snapshot), ...snapshot.ecs }[name], fields);

/** coderd knows of no organization, or does not tell its version. */
export const withoutOrganizations: Change = ({ coder }) => {
  coder.organizations = [];
};
export const versionIs =
  (version: string | undefined): Change =>
  ({ coder }) => {
    if (version === undefined) delete coder.buildInfo;
    else coder.buildInfo = { version };
  };

export const all =
  (...changes: readonly Change[]): Change =>
  (snapshot, config) => {
    for (const change of changes) change(snapshot, config);
  };

/** A record of untagged builds that took these seconds. */
export const withBuilds =
  (...seconds: readonly number[]): Change =>
  (snapshot) => {
    organizationIn(snapshot).recentJobs = {
      status: 'ok',
      items: seconds.map((took, index) => ({
        ...{ id: `build-${index}`, organization_id: 'org-default', type: 'workspace_build', tags: {} },
        ...{ created_at: iso(7200 + index * 300), started_at: iso(7200), completed_at: iso(7200 - took) },
        status: 'succeeded',
      })),
    };
  };

/** The time so many seconds ago. */
export const iso = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString();

/** The only organization of a snapshot. */
export function organizationIn(snapshot: Drawn['snapshot']) {
  const [organization] = snapshot.coder.organizations;
  if (organization === undefined) throw new Error('no organization');
  return organization;
}

/** The reason why ECS could not start the tasks. */
const PULL_FAILURE = 'CannotPullContainerError: pull image manifest has been retried 7 time(s)';

export const failing =
  (pool: string, count: number): Change =>
  (snapshot) =>
    addFailedStarts(snapshot, pool, count);

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
