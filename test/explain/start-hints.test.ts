/**
 * Real reasons of ECS for tasks that did not start, as its guide ("Amazon ECS stopped task error messages") and
 * public issues quote them. Each has its cause in words, and what to do.
 */
import { describe, expect, it } from 'vitest';
import { brief } from '../../cli/shared/brief.ts';
import type { PoolName } from '../../lambda/decision/model/brands.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { startHint } from '../../lambda/explain/start-hints.ts';
import { MOST_WORDS } from '../../lambda/explain/text.ts';

const PULL =
  'CannotPullContainerError: pull image manifest has been retried 5 time(s): failed to resolve ref';
const SECRETS = 'ResourceInitializationError: unable to pull secrets or registry auth:';
const ASM = `${SECRETS} execution resource retrieval failed: unable to retrieve secret from asm: service call has been retried 1 time(s): failed to fetch secret arn:aws:secretsmanager:eu-central-1:111122223333:secret:coder/keys/cpu from secrets manager:`;
const START =
  'CannotStartContainerError: ResourceInitializationError: failed to create new container runtime task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process:';

const REASONS: readonly (readonly [reason: string, hint: string])[] = [
  [
    `${ASM} ResourceNotFoundException: Secrets Manager can't find the specified secret.`,
    'a secret of the task does not exist: restore it, create it, or correct its name in the settings',
  ],
  [
    'Timeout waiting for network interface provisioning to complete.',
    'AWS attached no network interface in time, a failure of its own: nothing to mend, ECS tries again. If it lasts for an hour, ask AWS Support',
  ],
  [
    "Unexpected EC2 error while attempting to Create Network Interface in subnet 'subnet-0123456789abcdef0': InsufficientFreeAddressesInSubnet",
    'a subnet of the tasks has no free address: free some, or add a subnet to aws.network.subnets',
  ],
  [
    `${START} exec: "sh": executable file not found in $PATH: unknown`,
    'the image has no sh, which the guard needs first: use an image with sh and curl (docs/upgrade.md)',
  ],
  [
    `${START} exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown`,
    'the image has no sh, which the guard needs first: use an image with sh and curl (docs/upgrade.md)',
  ],
  [
    `${START} exec /usr/bin/sh: exec format error`,
    "the image is not made for the pool's architecture: set architecture, or build the image for it",
  ],
  [
    "CannotPullContainerError: image Manifest does not contain descriptor matching platform 'linux/arm64'",
    "the image is not made for the pool's architecture: set architecture, or build the image for it",
  ],
  [
    `${PULL} docker.io/acme/coder:v9: docker.io/acme/coder:v9: not found`,
    'ECS could not pull the image: check its name and tag, and that its registry answers',
  ],
  [
    `${PULL} ghcr.io/coder/coder:v2.30.0: failed to do request: Head "https://ghcr.io/v2/coder/coder/manifests/v2.30.0": dial tcp 140.82.121.33:443: i/o timeout`,
    'the task could not reach AWS or the image registry: check the NAT gateway or VPC endpoints of its subnets',
  ],
  [
    `${PULL} docker.io/library/coder:latest: unexpected status from HEAD request: 429 Too Many Requests - toomanyrequests: You have reached your unauthenticated pull rate limit.`,
    'the registry limits pulls: sign in to it, or copy the image to ECR',
  ],
  [
    `${PULL} 111122223333.dkr.ecr.eu-central-1.amazonaws.com/coder:v2: pulling from host 111122223333.dkr.ecr.eu-central-1.amazonaws.com failed with status code [manifests v2]: 403 Forbidden`,
    'ECS may not pull the image: check the policy of its repository, and that its account and Region are right',
  ],
  [
    `${PULL} 111122223333.dkr.ecr.eu-central-1.amazonaws.com/coder:v9: not found`,
    'ECS could not pull the image: check its name and tag, and that its registry answers',
  ],
  [
    `${SECRETS} execution resource retrieval failed: unable to retrieve ecr registry auth: service call has been retried 3 time(s): RequestError: send request failed caused by: Post "https://api.ecr.eu-central-1.amazonaws.com/": dial tcp 10.0.1.2:443: i/o timeout`,
    'the task could not reach AWS or the image registry: check the NAT gateway or VPC endpoints of its subnets',
  ],
  [
    `${SECRETS} The task cannot pull registry auth from Amazon ECR: There is a connection issue between the task and Amazon ECR. Check your task network configuration.`,
    'the task could not reach AWS or the image registry: check the NAT gateway or VPC endpoints of its subnets',
  ],
  [
    `${ASM} RequestCanceled: request context canceled caused by: context deadline exceeded`,
    'the task could not reach AWS or the image registry: check the NAT gateway or VPC endpoints of its subnets',
  ],
  [
    `${ASM} AccessDeniedException: User: arn:aws:sts::111122223333:assumed-role/Execution/0a1b is not authorized to perform: secretsmanager:GetSecretValue on resource: coder/keys/cpu`,
    'the execution role may not read a secret of the task: deploy again, and check the policy of the secret',
  ],
  [
    `${ASM} AccessDeniedException: Access to KMS is not allowed`,
    "the KMS key of a secret is disabled, or the execution role may not use it: run `autoscaler doctor`, and check the key's policy",
  ],
  [
    `${ASM} ResourceNotFoundException: Secrets Manager can't find the specified secret value for staging label: AWSCURRENT`,
    'a secret of the task has no value, or not the JSON key of the settings: store it, or correct jsonKey',
  ],
  [
    `${SECRETS} execution resource retrieval failed: unable to retrieve secret from asm: retrieved secret from Secrets Manager did not contain json key token`,
    'a secret of the task has no value, or not the JSON key of the settings: store it, or correct jsonKey',
  ],
  [
    'ResourceInitializationError: failed to validate logger args: create stream has been retried 1 times: failed to create Cloudwatch log stream: ResourceNotFoundException: The specified log group does not exist. : exit status 1',
    'the log group of the pool does not exist: run `autoscaler doctor` for the command that restores it',
  ],
  [
    'ResourceInitializationError: failed to validate logger args: The task cannot find the Amazon CloudWatch log group defined in the task definition. There is a connection issue between the task and Amazon CloudWatch. Check your network configuration.',
    'the task could not reach AWS or the image registry: check the NAT gateway or VPC endpoints of its subnets',
  ],
  [
    "ECS was unable to assume the role 'arn:aws:iam::111122223333:role/Execution' that was provided for this task. Please verify that the role being passed has the proper trust relationship and permissions and that your IAM user has permissions to pass this role.",
    'ECS could not assume the role of the task: check that it exists and trusts ecs-tasks.amazonaws.com',
  ],
  [
    'Capacity is unavailable at this time. Please try again later or in a different availability zone',
    'Fargate had no capacity: nothing to mend, ECS tries again. Subnets in more zones help',
  ],
  [
    "You've reached the limit on the number of vCPUs you can run concurrently",
    "the account's Fargate quota was reached: run `autoscaler doctor` for the command that requests more",
  ],
  [
    'CannotPullContainerError: ref pull has been retried 1 time(s): failed to extract layer sha256:0a1b: write /var/lib/containerd/tmp: no space left on device: unknown',
    'the image does not fit on the disk of the task: raise ephemeralStorage of the pool',
  ],
  [
    'OutOfMemoryError: Container killed due to memory usage; exit code 137',
    'the task ran out of memory: raise memory of the pool',
  ],
  [
    'ContainerRuntimeTimeoutError: Could not transition to running; timed out after waiting 1m0s',
    'a host of AWS failed: nothing to mend, ECS tries again',
  ],
  [
    'Essential container in task exited; exit code 1',
    'the provisioner exited. Read its log: often the provisioner key or token is wrong or coder.url is unreachable',
  ],
  [
    'Essential container in task exited; exit code 75',
    'the guard got no lease within 10 min. During a deployment ECS may refuse leases until old builds have ended. Otherwise read the task log and check the task role',
  ],
  [
    'Essential container in task exited; exit code 79',
    'AWS refuses the role of the task ecs:UpdateTaskProtection for the task itself, so no daemon of its revision starts. With aws.bindTaskRoles or bindTaskRole: set it to false and deploy (if the stack is still updating, first run `aws cloudformation cancel-update-stack`). With taskRole.arn: allow the action. Otherwise check the permissions boundary and the policies of the organization',
  ],
  [
    'Scaling activity initiated by (deployment): RESOURCE:ENI',
    'Fargate had no capacity: nothing to mend, ECS tries again. Subnets in more zones help',
  ],
  [
    'No Container Instances were found in your capacity provider.',
    'no instance of the capacity provider had room',
  ],
  ['EMPTY CAPACITY PROVIDER', 'no instance of the capacity provider had room'],
  [
    "You've reached the quota of your account",
    "the account's Fargate quota was reached: run `autoscaler doctor` for the command that requests more",
  ],
  [
    'ResourceInitializationError: unable to retrieve secret: invalid ARN',
    'ECS could not read a secret of the task: check the secret and the execution role',
  ],
  [
    'DockerTimeoutError: Could not start the container; timed out after waiting 3m0s',
    'a host of AWS failed: nothing to mend, ECS tries again',
  ],
  ['InternalError: something went wrong', 'a host of AWS failed: nothing to mend, ECS tries again'],
  ['Host EC2 (instance i-0a1b) terminated.', 'a host of AWS failed: nothing to mend, ECS tries again'],
  [
    'Task stopped due to a failure of the underlying infrastructure',
    'a host of AWS failed: nothing to mend, ECS tries again',
  ],
  [
    'CannotPullContainerError: no match for platform in manifest: not found',
    "the image is not made for the pool's architecture: set architecture, or build the image for it",
  ],
  [
    'CannotPullContainerError: pull access denied for acme/coder, repository does not exist',
    'ECS may not pull the image: check the policy of its repository, and that its account and Region are right',
  ],
  [
    'CannotPullECRContainerError: AccessDeniedException: is not authorized to perform: ecr:GetAuthorizationToken',
    'ECS may not pull the image: check the policy of its repository, and that its account and Region are right',
  ],
  [
    'KMSInvalidStateException: arn:aws:kms:eu-central-1:111122223333:key/0a1b is pending deletion.',
    "the KMS key of a secret is disabled, or the execution role may not use it: run `autoscaler doctor`, and check the key's policy",
  ],
  [
    'The subnet has no free IP addresses',
    'a subnet of the tasks has no free address: free some, or add a subnet to aws.network.subnets',
  ],
];

describe('the reason of ECS', () => {
  it.each(REASONS)('%s has a cause in words and what to do', (reason, hint) => {
    expect(startHint(reason)).toBe(`${hint} (${reason})`);
  });

  it.each(REASONS)('%s keeps its cause in the short form', (reason, hint) => {
    const finding = { code: 'starts-failing', pool: 'cpu' as PoolName, tasks: 3, reason } as const;
    const [, shown = ''] = brief(sentenceOf(finding), MOST_WORDS.line).split('registered: ');
    const [cause = ''] = hint.split(/[.:]/);
    expect(shown.startsWith(cause)).toBe(true);
  });

  it('stays as it is if nobody knows it', () => {
    expect(startHint('SomethingNewError: of 2027')).toBe('SomethingNewError: of 2027');
  });
});
