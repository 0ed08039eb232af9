/** The assumptions of docs/internals/aws.md that matter for safety and cost, by id: what is assumed, what "not" means. */
const ASSUMPTIONS = {
  lease: [
    'The guard of a new task protects it for 48 h, and ECS shows the protection',
    'Waits: a guard without a protection starts no daemon, so builds wait. No build is lost',
  ],
  'protected-tasks-stay': [
    'ECS stops no protected task when the desired count falls',
    'Safety: a scale-in can end a build. Do not use the autoscaler in this account, and report this',
  ],
  'renewal-while-blocked': [
    'While a protected task holds a rolling deployment open, ECS renews its protection, or refuses with DEPLOYMENT_BLOCKED',
    'Safety: the guard does not know this answer. A build that goes on for 23 h after a drain request can lose its protection. Report this',
  ],
  'end-may-be-earlier': [
    'A drain request makes the end of a protection earlier: 23 h instead of 48 h',
    'Cost: drain requests do nothing, so tasks stay until somebody stops them. No build is lost',
  ],
  'drain-request-arrives': [
    'The guard of an idle task sees a drain request, and removes the protection within 2 min',
    'Cost: idle tasks stay. No build is lost',
  ],
  'build-outlives-request': [
    'A build goes on through a drain request and a deployment, and ECS stops its task only afterwards',
    'Safety: a drain request or a deployment can end a build. Pause all pools, and report this',
  ],
  'choice-to-signal': [
    'ECS chooses the task without protection, and tells it within 3 s that it is to stop',
    'Safety: the guard waits only 3 s. A build could start in a task that ECS has already chosen. Report this',
  ],
  start: [
    'A daemon registers within 3 min after ECS created its task',
    'Waits: a build that needs a new task waits longer. The autoscaler learns the time by itself',
  ],
  'image-pull': [
    'A task pulls its image in less than a minute',
    'Waits and cost: each task pulls the whole image. A smaller one, or one in ECR, starts sooner',
  ],
  messages: [
    'A message starts the next look, so there are more invocations than the one a minute of the schedule',
    'Cost: the function waits between its looks and bills the wait, about $0.02 an hour. Nothing else changes',
  ],
  'role-can': [
    "The function's role can read ECS, set a count and send a drain request (IAM's policy simulation)",
    'Waits and cost: the function cannot size the pools, so builds wait and tasks stay. Deploy again',
  ],
  'role-cannot-stop': [
    "The function's role cannot stop, start or delete anything in ECS (IAM's policy simulation)",
    'Safety: an error in the function could end a build. Remove the permission from its role',
  ],
} as const;

export type RowId = keyof typeof ASSUMPTIONS;
const IDS = Object.keys(ASSUMPTIONS) as readonly RowId[];

/** `isOk` undefined: not measured, and `measured` says why. */
export type Measured = { readonly isOk: boolean | undefined; readonly measured: string };

export type Row = ReturnType<typeof rowsOf>[number];

/** `stopped`: why the experiment ended early. */
export function rowsOf(found: ReadonlyMap<RowId, Measured>, stopped = 'it was not tried') {
  return IDS.map((id) => {
    const [assumed, means] = ASSUMPTIONS[id];
    const { isOk, measured } = found.get(id) ?? { isOk: undefined, measured: stopped };
    const result = isOk === undefined ? 'not measured' : isOk ? 'ok' : 'not';
    return { id, assumed, measured, result, means } as const;
  });
}

/** What is wrong comes last, above the prompt. Rows that were not measured for the same reason share a block. */
export function rowsText(rows: readonly Row[]): string {
  const that = (wanted: Row['result']) => rows.filter(({ result }) => result === wanted);
  const block = ({ id, assumed, measured, result, means }: Row): string => {
    const meaning = result === 'not' ? `  means       ${means}\n` : '';
    return `${result.padEnd(12)}  ${id}\n  assumed     ${assumed}\n  measured    ${measured}\n${meaning}`;
  };
  const missed = [...Map.groupBy(that('not measured'), ({ measured }) => measured)].map(
    ([why, all]) => `not measured  ${all.map(({ id }) => id).join(', ')}\n  because     ${why}\n`,
  );
  const counts = (['ok', 'not', 'not measured'] as const).map((result) => `${that(result).length} ${result}`);
  const total = `${rows.length} assumptions: ${counts.join(', ')}`;
  return [...that('ok').map(block), ...missed, ...that('not').map(block), total].join('\n');
}
