/** Causes for which tasks do not start. The reasons are those of ECS, as people cite them. */
import { KMS_KEY, type Night } from '../night.ts';
import type { Cause } from './cause.ts';

const nameOf = ({ world }: Night): string => world.service('cpu').identity.name;

const NO_SECRET =
  "ResourceInitializationError: unable to pull secrets or registry auth: execution resource retrieval failed: unable to retrieve secret from asm: service call has been retried 1 time(s): failed to fetch secret coder/keys/cpu from secrets manager: ResourceNotFoundException: Secrets Manager can't find the specified secret.";

const NO_KMS =
  'ResourceInitializationError: unable to pull secrets or registry auth: execution resource retrieval failed: unable to retrieve secret from asm: service call has been retried 1 time(s): failed to fetch secret arn:aws:secretsmanager:eu-central-1:123456789012:secret:coder/keys/cpu-AbCdEf from secrets manager: AccessDeniedException: Access to KMS is not allowed';

const NO_LOG_GROUP =
  'ResourceInitializationError: failed to validate logger args: create stream has been retried 1 times: failed to create Cloudwatch log stream: ResourceNotFoundException: The specified log group does not exist. : exit status 1';

const NO_VCPU = "You've reached the limit on the number of vCPUs you can run concurrently.";

type Given = Pick<Cause, 'cause' | 'act' | 'words'> & Partial<Cause> & { readonly reason: string };

/** People start more workspaces than daemons are there, while ECS does this with the reason. */
function startless({ reason, ...cause }: Given, fault: 'failStarts' | 'failPlacement'): Cause {
  return {
    begin: (night) => {
      night.world.ecs[fault](nameOf(night), reason);
      night.submit(5, 4);
    },
    mend: (night) => night.world.ecs[fault](nameOf(night)),
    rings: ['job-waits', 'starts-failing'],
    ...cause,
  };
}

const failing = (given: Given): Cause => startless(given, 'failStarts');
const unplaced = (given: Given): Cause => startless(given, 'failPlacement');

export const STARTS: readonly Cause[] = [
  failing({
    cause: "the image's tag was deleted",
    reason:
      'CannotPullContainerError: pull image manifest has been retried 7 time(s): failed to resolve ref ghcr.io/coder/coder:v2.30.0: ghcr.io/coder/coder:v2.30.0: not found',
    act: 'push the tag again',
    words: /ECS could not pull the image/,
  }),
  failing({
    cause: 'the image has no /bin/sh',
    reason:
      'CannotStartContainerError: Error: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "sh": executable file not found in $PATH: unknown',
    act: 'deploy another image',
    words: /the image has no sh/,
  }),
  failing({
    cause: 'the secret of the key was deleted',
    reason: NO_SECRET,
    act: 'restore the secret',
    words: /secret/,
    begin: (night) => {
      const { world } = night;
      world.secrets.delete('coder/keys/cpu');
      world.ecs.failStarts(nameOf(night), NO_SECRET);
      night.submit(5, 4);
    },
    mend: (night) => {
      night.world.renewKey('cpu');
      night.world.ecs.failStarts(nameOf(night));
    },
  }),
  failing({
    cause: "the tasks' KMS key is disabled",
    reason: NO_KMS,
    act: 'enable the key',
    words: /KMS keys: .* is Disabled/,
    begin: (night) => {
      const { secrets, account, ecs } = night.world;
      const secret = secrets.find('coder/keys/cpu');
      if (secret !== undefined) secret.kmsKey = KMS_KEY;
      account.kmsKeys.set(KMS_KEY, 'Disabled');
      ecs.failStarts(nameOf(night), NO_KMS);
      night.submit(5, 4);
    },
    mend: (night) => {
      night.world.account.kmsKeys.set(KMS_KEY, 'Enabled');
      night.world.ecs.failStarts(nameOf(night));
    },
  }),
  failing({
    cause: "the pool's log group was deleted",
    reason: NO_LOG_GROUP,
    act: 'restore the log group',
    words: /log groups: .* does not exist/,
    begin: (night) => {
      night.world.logs.deleteGroup('Stack-PoolCpuLogs');
      night.world.ecs.failStarts(nameOf(night), NO_LOG_GROUP);
      night.submit(5, 4);
    },
    mend: (night) => {
      night.world.logs.createGroup('Stack-PoolCpuLogs');
      night.world.ecs.failStarts(nameOf(night));
    },
  }),
  failing({
    cause: 'the subnet has no address left',
    reason:
      "Unexpected EC2 error while attempting to Create Network Interface with public IP assignment disabled in subnet 'subnet-0a1b2c3d': InsufficientFreeAddressesInSubnet",
    act: 'free addresses',
    words: /subnet/,
  }),
  failing({
    cause: 'AWS cannot make network interfaces',
    reason: 'Timeout waiting for network interface provisioning to complete.',
    act: 'wait for AWS',
    words: /AWS/,
  }),
  failing({
    cause: 'the tasks reach no Secrets Manager',
    reason:
      'ResourceInitializationError: unable to pull secrets or registry auth: The task cannot pull secrets from Secrets Manager. There is a connection issue between the task and AWS Secrets Manager. Check your task network configuration. RequestCanceled: request context canceled caused by: context deadline exceeded',
    act: 'open the route',
    words: /network|route/,
  }),
  unplaced({
    cause: "the account's vCPU quota is full",
    reason: NO_VCPU,
    act: 'raise the quota',
    words: /quota: .* vCPUs of the account|vCPU quota/,
    begin: (night) => {
      night.world.account.quotas.set('L-3032A538', 1);
      night.world.ecs.failPlacement(nameOf(night), NO_VCPU);
      night.submit(5, 4);
    },
  }),
  unplaced({
    cause: 'Fargate has no capacity',
    reason:
      'Capacity is unavailable at this time. Please try again later or in a different availability zone.',
    act: 'wait for AWS',
    words: /Capacity is unavailable/,
  }),
  {
    cause: 'tasks freeze as soon as they run',
    begin: ({ world }) => {
      world.ecs.freezing = 1;
    },
    mend: ({ world }) => {
      world.ecs.freezing = 0;
    },
    act: 'wait for AWS',
    prepare: (night) => night.submit(3),
    before: 30,
    words: /longer than/,
    rings: ['job-waits', 'starts-failing'],
  },
];
