/** What the words of ECS mostly mean, before the words themselves. */
const START_HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /exit code 75/,
    'the guard got no lease within 10 min; while a deployment goes on ECS may refuse leases, else see its log and the task role',
  ],
  [
    /connection issue|network configuration|RequestError|timeout waiting for network/i,
    'the task has no way to AWS or the registry',
  ],
  [/OutOfMemory|exit code 137/i, 'the task ran out of memory'],
  [/CannotPull|pull image|manifest/i, 'the image can not be pulled'],
  [/capacity is unavailable|RESOURCE:/i, 'Fargate has no capacity'],
  [/unable to retrieve secret|secretsmanager|asm:|ssm:/i, 'a secret can not be read'],
  [/vCPU|limit on the number|quota/i, "the account's quota is used up"],
  [
    /exit code|Essential container/i,
    'the provisioner ended by itself; a wrong key or an unreachable coder.url does that, its log says which',
  ],
];

/** Why a task could not start: what it mostly means, and what ECS says. */
export function startHint(reason: string): string {
  const hint = START_HINTS.find(([pattern]) => pattern.test(reason))?.[1];
  return hint === undefined ? reason : `${hint} (${reason})`;
}
