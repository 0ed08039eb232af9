/** Checks the deployment itself, which a machine of a person cannot see from its own reach. */
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { STACK_TAG, tagOf } from '../../../lambda/decision/model/service-tags.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { readStackResources, type StackResource } from '../../adapters/stack-resources.ts';
import { findLogGroup } from '../../logs/function-log.ts';
import { deployedSeconds } from '../../status/read-log.ts';
import { type Check, skip } from '../check/check.ts';
import { checkFindings } from './findings.ts';
import { checkKmsKeys } from './kms-keys.ts';
import { checkLastLook } from './last-look.ts';
import { checkLogGroups } from './log-groups.ts';
import { checkQuotas } from './quota.ts';
import { CLIENT, type Read, tryRead } from './reading.ts';
import { checkSchedule } from './schedule.ts';
import { checkStack } from './stack.ts';

export type DeploymentContext = {
  readonly config: Deployment;
  readonly services: Snapshot['ecs']['services'];
  /** What a look from here finds. Empty where it cannot read coderd or ECS. */
  readonly findings: Promise<readonly Finding[]>;
  readonly now: EpochMs;
  readonly until: AbortSignal;
  /** The failed check without which AWS cannot be read. */
  readonly blocker: string | undefined;
};

const NAME = 'deployment';

export async function checkDeployment(context: DeploymentContext): Promise<readonly Check[]> {
  const { config, services, findings, until, blocker } = context;
  if (blocker !== undefined) return [skip(NAME, blocker)];
  if (services.status !== 'ok') return [skip(NAME, 'cluster')];
  const stacks = new CloudFormationClient(CLIENT);
  const logs = new CloudWatchLogsClient(CLIENT);
  try {
    const parts = await Promise.all([
      checkOfStack(context, stacks, logs),
      checkLooks(context, logs),
      checkQuotas(config.pools, services.items, until),
      checkKmsKeys(config, until),
    ]);
    return [...parts.flat(), ...checkFindings(await findings)];
  } finally {
    stacks.destroy();
    logs.destroy();
  }
}

/** The stack, and what it has made. */
async function checkOfStack(
  { config, services, until }: DeploymentContext,
  stacks: CloudFormationClient,
  logs: CloudWatchLogsClient,
): Promise<readonly Check[]> {
  const ofFunction = findLogGroup(services.items, config)?.group;
  const stack = stackOf(config, services.items);
  const [state, resources] = await Promise.all([
    checkStack(stacks, stack, until),
    readResources(stacks, stack, until),
  ]);
  if ('check' in resources)
    return [
      state,
      resources.check,
      ...(await checkLogGroups(logs, { aws: config.aws, resources: [], ofFunction, until })),
    ];
  const [schedule, groups] = await Promise.all([
    checkSchedule(resources.value, until),
    checkLogGroups(logs, { aws: config.aws, resources: resources.value, ofFunction, until }),
  ]);
  return [state, schedule, ...groups];
}

function readResources(
  stacks: CloudFormationClient,
  stack: string,
  until: AbortSignal,
): Promise<Read<readonly StackResource[]>> {
  const asked = {
    name: 'schedule and log groups of pools',
    permission: 'cloudformation:ListStackResources',
    until,
  };
  return tryRead(asked, () => readStackResources(stacks, stack, until));
}

/** As the services of the pools name it: a CDK app of your own may give it another name than the settings. */
function stackOf({ aws, pools }: Deployment, services: Snapshot['ecs']['services']['items']): string {
  const log = findLogGroup(services, { pools });
  const any = services.flatMap((service) => tagOf(service, STACK_TAG) ?? []);
  return log?.service ?? any[0] ?? aws.stack;
}

async function checkLooks(
  { config, services, findings, now, until }: DeploymentContext,
  logs: CloudWatchLogsClient,
): Promise<readonly Check[]> {
  const log = findLogGroup(services.items, config);
  if (log === undefined) return [];
  const seconds = deployedSeconds(services.items, now);
  return checkLastLook(logs, { log, now, until, deployedSeconds: seconds, findings });
}
