/** The assumptions of docs/internals/aws.md that matter for safety and cost. */
import { plainLine } from '../../../lambda/explain/format.ts';

type Assumption = {
  readonly assumed: string;
  /** What "not" means. */
  readonly means: string;
  /** What it says nothing about, even if it is ok. */
  readonly uncovered: string;
};

const OTHER_PART = 'the Spot part of a pool in two parts, which was not tried';

const ASSUMPTIONS = {
  lease: {
    assumed: 'The guard of a new task protects it for 48 h, and ECS shows the protection',
    means: 'Waits: a guard without a protection starts no daemon, so builds wait. No build is lost',
    uncovered: `the renewals by the agent in the task, the first after 10 min; ${OTHER_PART}`,
  },
  'protected-tasks-stay': {
    assumed: 'ECS stops no protected task when the desired count falls, and the service tells so',
    means: 'Safety: a scale-in can end a build. Do not use the autoscaler in this account, and report this',
    uncovered: `a scale-in that lasts for longer; ${OTHER_PART}`,
  },
  'renewal-while-blocked': {
    assumed:
      'While a protected task holds a rolling deployment open, ECS renews its protection through the API, or refuses with DEPLOYMENT_BLOCKED',
    means:
      'Safety: the guard does not know this answer. A build that goes on for 23 h after a drain request can lose its protection. Report this',
    uncovered: 'the renewals by the agent in the task, and deployments that last for longer',
  },
  'end-may-be-earlier': {
    assumed: 'A drain request makes the end of a protection earlier: 23 h instead of 48 h',
    means:
      'If the end stays, cost: drain requests do nothing, so tasks stay. If less than 22.9 h are left, safety: a build can lose its protection. Report this',
    uncovered: 'requests during a deployment',
  },
  'drain-request-arrives': {
    assumed: 'The guard of an idle task sees a drain request, and removes the protection within 2 min',
    means: 'Cost: idle tasks stay. No build is lost',
    uncovered: OTHER_PART,
  },
  'build-outlives-request': {
    assumed:
      'A build goes on through a drain request and a deployment, and ECS stops its task only afterwards',
    means: 'Safety: a drain request or a deployment can end a build. Pause all pools, and report this',
    uncovered: 'deployments and builds that last for longer',
  },
  'choice-to-signal': {
    assumed: 'ECS chooses the task without protection, and tells it within 3 s that it is to stop',
    means:
      'Safety: the guard waits only 3 s. A build could start in a task that ECS has already chosen. Report this',
    uncovered: 'many tasks at once, and a choice for a deployment',
  },
  start: {
    assumed: 'A daemon registers within 3 min after ECS created its task',
    means: 'Waits: a build that needs a new task waits longer. The autoscaler learns the time by itself',
    uncovered: 'many starts at once',
  },
  'image-pull': {
    assumed: 'A task pulls its image in less than a minute',
    means: 'Waits and cost: each task pulls the whole image. A smaller one, or one in ECR, starts sooner',
    uncovered: 'the limits of a registry for many pulls',
  },
  messages: {
    assumed:
      'A message starts the next look, so there are more invocations than the one a minute of the schedule',
    means:
      'Cost: the function waits between its looks and bills the wait, about $0.02 an hour. Nothing else changes',
    uncovered: 'messages that come twice or late',
  },
  'role-can': {
    assumed:
      "The function's role can read ECS, set a count and send a drain request (IAM's policy simulation)",
    means: 'Waits and cost: the function cannot size the pools, so builds wait and tasks stay. Deploy again',
    uncovered:
      "policies of the organization, and the tags that services really have: IAM's simulation takes given ones",
  },
  'role-cannot-stop': {
    assumed: "The function's role cannot stop, start or delete anything in ECS (IAM's policy simulation)",
    means: 'Safety: an error in the function could end a build. Remove the permission from its role',
    uncovered: 'other services of AWS, and policies that somebody adds later',
  },
  'bound-role': {
    assumed: "With bindTaskRoles a task gets its lease, and cannot protect a task with another pool's tag",
    means:
      'If a task got no lease, waits: no daemon starts with a bound role. Set bindTaskRole to false and deploy. If it could protect the other one, safety: Terraform in one pool can hold and release tasks of another. Use one cluster for each trust domain',
    uncovered: 'the removal of a protection, which it never tries, and the tag of the stack',
  },
} as const satisfies Readonly<Record<string, Assumption>>;

export type RowId = keyof typeof ASSUMPTIONS;
export const ROW_IDS = Object.keys(ASSUMPTIONS) as readonly RowId[];

/** `isOk` undefined: not measured, and `measured` says why. */
export type Measured = { readonly isOk: boolean | undefined; readonly measured: string };

export type Row = ReturnType<typeof rowsOf>[number];

type Tried = {
  readonly found: ReadonlyMap<RowId, Measured>;
  /** Why the experiment ended early. */
  readonly stopped?: string | undefined;
  /** Whether tasks have bound roles; there is no such row without. */
  readonly isBound: boolean;
};

export function rowsOf({ found, stopped = 'it was not tried', isBound }: Tried) {
  return ROW_IDS.filter((id) => isBound || id !== 'bound-role').map((id) => {
    const { isOk, measured } = found.get(id) ?? { isOk: undefined, measured: stopped };
    const result = isOk === undefined ? 'not measured' : isOk ? 'ok' : 'not';
    return { id, ...(ASSUMPTIONS[id] as Assumption), measured: plainLine(measured), result } as const;
  });
}

/** What is wrong comes last, above the prompt. Rows that were not measured for the same reason share a block. */
export function rowsText(rows: readonly Row[]): string {
  const that = (wanted: Row['result']) => rows.filter(({ result }) => result === wanted);
  const block = ({ id, assumed, measured, result, means, uncovered }: Row): string => {
    const last = result === 'not' ? `  means       ${means}` : `  not covered ${uncovered}`;
    return `${result.padEnd(12)}  ${id}\n  assumed     ${assumed}\n  measured    ${measured}\n${last}\n`;
  };
  const missed = [...Map.groupBy(that('not measured'), ({ measured }) => measured)].map(
    ([why, all]) => `not measured  ${all.map(({ id }) => id).join(', ')}\n  because     ${why}\n`,
  );
  const counts = (['ok', 'not', 'not measured'] as const).map((result) => `${that(result).length} ${result}`);
  const total = `${rows.length} assumptions: ${counts.join(', ')}`;
  return [...that('ok').map(block), ...missed, ...that('not').map(block), total].join('\n');
}
