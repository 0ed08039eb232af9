/** The assumptions of docs/internals/aws.md that matter for safety and cost, by id: what is assumed, what "not" means. */
const ASSUMPTIONS = {
  lease: [
    'The guard of a new task protects it for 48 h, and ECS shows the protection',
    'Safety: without a protection ECS could stop a build. The guard then starts no daemon, so builds wait',
  ],
  'protected-tasks-stay': [
    'ECS stops no protected task when the desired count falls',
    'Safety: a scale-in stops builds. Do not use the autoscaler in this account, and report this',
  ],
  'renewal-while-blocked': [
    'While more tasks are protected than desired, ECS grants a renewal or refuses it with DEPLOYMENT_BLOCKED',
    'Safety: the guard does not know this refusal, and a build of more than 48 h may lose its protection',
  ],
  'end-may-be-earlier': [
    'A drain request makes the end of a protection earlier (48 h to 23 h)',
    'Cost: drain requests do nothing, so tasks stay. No build is lost',
  ],
  'drain-request-arrives': [
    'The guard of an idle task sees a drain request and removes the protection within 2 min',
    'Cost: idle tasks stay. No build is lost',
  ],
  'build-outlives-request': [
    'A build that runs at the drain request ends well, and its task goes afterwards',
    'Safety: a drain request can end a build. Pause all pools, and report this',
  ],
  'choice-to-signal': [
    'ECS stops the task without protection, and tells it so within 3 s of its choice',
    'Safety: the guard waits only 3 s, so a build could start in a task that ECS has already chosen',
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
    "The function's role can read ECS, set a count and send a drain request (IAM's simulation)",
    'Safety and cost: the function cannot size the pools, so builds wait and tasks stay',
  ],
  'role-cannot-stop': [
    "The function's role cannot stop, start or delete anything in ECS (IAM's simulation)",
    'Safety: a mistake in the function could stop a build. Take the permission away',
  ],
} as const;

export type RowId = keyof typeof ASSUMPTIONS;
const IDS = Object.keys(ASSUMPTIONS) as readonly RowId[];

/** `isOk` undefined: not measured, and `measured` says why. */
export type Measured = { readonly isOk: boolean | undefined; readonly measured: string };

export type Row = {
  readonly id: RowId;
  readonly assumed: string;
  readonly measured: string;
  readonly result: 'ok' | 'not' | 'not measured';
  readonly means: string;
};

/** `stopped`: why the experiment ended early. */
export function rowsOf(found: ReadonlyMap<RowId, Measured>, stopped: string | undefined): readonly Row[] {
  return IDS.map((id) => {
    const [assumed, means] = ASSUMPTIONS[id];
    const { isOk, measured } = found.get(id) ?? { isOk: undefined, measured: stopped ?? 'unknown' };
    return {
      id,
      assumed,
      measured,
      result: isOk === undefined ? 'not measured' : isOk ? 'ok' : 'not',
      means,
    };
  });
}

export function rowsText(rows: readonly Row[]): string {
  const blocks = rows.map(({ id, assumed, measured, result, means }) => {
    const lines = [`  assumed     ${assumed}`, `  measured    ${measured}`];
    const meaning = result === 'not' ? [`  means       ${means}`] : [];
    return [`${result.padEnd(12)}  ${id}`, ...lines, ...meaning, ''].join('\n');
  });
  const count = (result: Row['result']): string =>
    `${rows.filter((row) => row.result === result).length} ${result}`;
  const counts = [count('ok'), count('not'), count('not measured')].join(', ');
  return [...blocks, `${rows.length} assumptions: ${counts}`].join('\n');
}
