/** Words the likely cause of a failed start, and what to do, from the reason that ECS gives. */

/** The first match wins, so rows about one cause come before rows about a kind of error. */
const START_HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [
    /exit code 79/,
    'AWS refuses the role of the task ecs:UpdateTaskProtection for the task itself, so no daemon of its revision starts. With aws.bindTaskRoles or bindTaskRole: set it to false and deploy (if the stack is still updating, first run `aws cloudformation cancel-update-stack`). With taskRole.arn: allow the action. Otherwise check the permissions boundary and the policies of the organization',
  ],
  [
    /exit code 75/,
    'the guard got no lease within 10 min. During a deployment ECS may refuse leases until old builds have ended. Otherwise read the task log and check the task role',
  ],
  [
    /InsufficientFreeAddresses|free (?:IP )?addresses/i,
    'a subnet of the tasks has no free address: free some, or add a subnet to aws.network.subnets',
  ],
  [
    /timeout waiting for network interface/i,
    'AWS attached no network interface in time, a failure of its own: nothing to mend, ECS tries again. If it lasts for an hour, ask AWS Support',
  ],
  [
    /exec: \\?"(?:\/bin\/)?sh\\?"|\/bin\/sh[:"].*(?:not found|no such file)/i,
    'the image has no sh, which the guard needs first: use an image with sh and curl (docs/upgrade.md)',
  ],
  [
    /exec format error|matching platform|no match for platform/i,
    "the image is not made for the pool's architecture: set architecture, or build the image for it",
  ],
  [
    /Access to KMS is not allowed|KMS(?:InvalidState|Disabled)|DisabledException|key .{0,80} is (?:disabled|pending deletion)/i,
    "the KMS key of a secret is disabled, or the execution role may not use it: run `autoscaler doctor`, and check the key's policy",
  ],
  [
    /log group does not exist|ResourceNotFoundException.{0,80}log group/i,
    'the log group of the pool does not exist: run `autoscaler doctor` for the command that restores it',
  ],
  [
    /unable to assume (?:the )?role/i,
    'ECS could not assume the role of the task: check that it exists and trusts ecs-tasks.amazonaws.com',
  ],
  [
    /toomanyrequests|429 Too Many|pull rate limit/i,
    'the registry limits pulls: sign in to it, or copy the image to ECR',
  ],
  [
    /(?:secretsmanager|asm|ssm|secret).*(?:AccessDenied|not authorized)|(?:AccessDenied|not authorized).*(?:secretsmanager|ssm):/i,
    'the execution role may not read a secret of the task: deploy again, and check the policy of the secret',
  ],
  [
    /connection issue|network configuration|RequestError|RequestCanceled|context deadline exceeded|i\/o timeout|dial tcp|no such host/i,
    'the task could not reach AWS or the image registry: check the NAT gateway or VPC endpoints of its subnets',
  ],
  [
    /ecr:[A-Z]\w+|CannotPull.*(?:[Dd]enied|403 Forbidden|no basic auth|[Uu]nauthorized)/,
    'ECS may not pull the image: check the policy of its repository, and that its account and Region are right',
  ],
  [
    /can't find the specified secret(?! value)/i,
    'a secret of the task does not exist: restore it, create it, or correct its name in the settings',
  ],
  [
    /json key|staging label|can't find the specified secret/i,
    'a secret of the task has no value, or not the JSON key of the settings: store it, or correct jsonKey',
  ],
  [/OutOfMemory|exit code 137/i, 'the task ran out of memory: raise memory of the pool'],
  [
    /no space left on device/i,
    'the image does not fit on the disk of the task: raise ephemeralStorage of the pool',
  ],
  [
    /CannotPull|pull image|manifest/i,
    'ECS could not pull the image: check its name and tag, and that its registry answers',
  ],
  [/container.instance|EMPTY CAPACITY PROVIDER/i, 'no instance of the capacity provider had room'],
  [
    /vCPU|limit on the number|quota/i,
    "the account's Fargate quota was reached: run `autoscaler doctor` for the command that requests more",
  ],
  [
    /capacity is unavailable|RESOURCE:/i,
    'Fargate had no capacity: nothing to mend, ECS tries again. Subnets in more zones help',
  ],
  [
    /unable to retrieve secret|secretsmanager|asm:|ssm:/i,
    'ECS could not read a secret of the task: check the secret and the execution role',
  ],
  [
    /ContainerRuntimeTimeout|DockerTimeout|InternalError|underlying infrastructure|Host EC2/i,
    'a host of AWS failed: nothing to mend, ECS tries again',
  ],
  [
    /exit code|Essential container/i,
    'the provisioner exited. Read its log: often the provisioner key or token is wrong or coder.url is unreachable',
  ],
];

/** The likely cause of a failed start and what to do, then the reason of ECS in parentheses. */
export function startHint(reason: string): string {
  const hint = START_HINTS.find(([pattern]) => pattern.test(reason))?.[1];
  return hint === undefined ? reason : `${hint} (${reason})`;
}
