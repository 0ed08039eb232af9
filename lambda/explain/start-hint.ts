/** Guesses why a task did not start, from the reason that ECS gives. The first match wins. */
const START_HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /exit code 75/,
    'the guard got no lease within 10 min. ECS may refuse leases during a deployment. Otherwise read the task log and check the task role',
  ],
  [
    /connection issue|network configuration|RequestError|timeout waiting for network/i,
    'the task cannot reach AWS or the image registry',
  ],
  [/OutOfMemory|exit code 137/i, 'the task ran out of memory'],
  [/CannotPull|pull image|manifest/i, 'ECS cannot pull the image'],
  [/capacity is unavailable|RESOURCE:/i, 'Fargate has no capacity'],
  [/unable to retrieve secret|secretsmanager|asm:|ssm:/i, 'ECS cannot read a secret of the task'],
  [/vCPU|limit on the number|quota/i, "the account's Fargate quota is reached"],
  [
    /exit code|Essential container/i,
    'the provisioner exited. Read its log: often the provisioner key or token is wrong or coder.url is unreachable',
  ],
];

/** The likely cause of a failed start, then the reason of ECS in parentheses. */
export function startHint(reason: string): string {
  const hint = START_HINTS.find(([pattern]) => pattern.test(reason))?.[1];
  return hint === undefined ? reason : `${hint} (${reason})`;
}
