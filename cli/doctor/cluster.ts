/** Checks that each pool has one ECS service, a task definition that matches the configuration, and its provider. */
import { readFileSync } from 'node:fs';
import {
  ApplicationAutoScalingClient,
  DescribeScalableTargetsCommand,
  type ScalableTarget,
} from '@aws-sdk/client-application-auto-scaling';
import { DescribeClustersCommand } from '@aws-sdk/client-ecs';
import { EACH_TRY, endingWith, isDenied } from '../../lambda/adapters/shared/aws-calls.ts';
import { readPages } from '../../lambda/adapters/shared/pages.ts';
import type { Clients } from '../../lambda/connect.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { Finding } from '../../lambda/decision/model/plan.ts';
import type { Reading, Service, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { some } from '../../lambda/explain/format.ts';
import { describeTaskDefinition, provisionerOf, type TaskDefinition } from '../adapters/task-definitions.ts';
import { PATIENT, withAdvice } from '../shared/aws-advice.ts';
import { findService } from '../shared/override-target.ts';
import { quoted } from '../shared/shell-words.ts';
import type { DoctorContext } from './access.ts';
import { type Check, fail, ok, skip, warn } from './check/check.ts';

const CLUSTER = 'cluster';
const OTHERS = 'other services';

type ClusterReadings = {
  readonly ecs: Clients['ecs'];
  readonly cluster: DoctorContext['found'];
  /** Not read without a cluster. */
  readonly readings: Snapshot['ecs'];
  readonly findings: Promise<readonly Finding[]>;
  readonly until: AbortSignal;
  /** The failed check without which no service can be read. */
  readonly blocker: string | undefined;
};

export async function checkCluster(
  pools: readonly PoolConfig[],
  given: ClusterReadings,
): Promise<readonly Check[]> {
  const { cluster, readings, findings, until } = given;
  const { services, tasks, protections } = readings;
  const head = clusterCheck(given);
  if (services.status !== 'ok') {
    const names = [...pools.map(({ name }) => serviceOf(name)), OTHERS, SCALABLE_TARGETS];
    return [
      head,
      ...names.map((name) => skip(name, ('problem' in cluster ? undefined : given.blocker) ?? CLUSTER)),
    ];
  }
  const [scaling, providers, ...parts] = await Promise.all([
    checkScalableTargets(services.items, until),
    checkProviders(pools, given),
    ...pools.map((pool) => checkService(pool, given)),
  ]);
  return [
    head,
    readingCheck('tasks', tasks),
    readingCheck('task protection', protections),
    ...parts.flat(),
    ...providers,
    checkOthers(await findings),
    scaling,
  ];
}

function readingCheck(what: string, { status, error, items }: Reading<unknown>): Check {
  const name = `cluster: ${what}`;
  return status === 'ok'
    ? ok(name, `readable, ${items.length} listed`)
    : fail(name, withAdvice(error ?? status));
}

const serviceOf = (pool: string): string => `pool "${pool}": service`;

function clusterCheck({ cluster, readings, blocker }: ClusterReadings): Check {
  const { status, error, items } = readings.services;
  if ('problem' in cluster) return { name: CLUSTER, status: 'skip', says: cluster.problem };
  if (blocker !== undefined) return skip(CLUSTER, blocker);
  if (status !== 'ok') return fail(CLUSTER, withAdvice(error ?? status));
  return ok(CLUSTER, `"${cluster.cluster}" has ${some(items.length, 'pool service')}`);
}

async function checkService(
  pool: PoolConfig,
  { ecs, readings: { services } }: ClusterReadings,
): Promise<readonly Check[]> {
  const name = serviceOf(pool.name);
  try {
    const service = findService(pool.name, services);
    return [ok(name, service.serviceName), ...(await checkTasks(pool, service, ecs))];
  } catch (cause) {
    return [fail(name, messageOf(cause))];
  }
}

async function checkTasks(
  pool: PoolConfig,
  { taskDefinition, serviceName }: Service,
  ecs: Clients['ecs'],
): Promise<readonly Check[]> {
  const name = `pool "${pool.name}": task definition`;
  if (taskDefinition === undefined)
    return [warn(name, `service ${serviceName} has no task definition. Check that this stack deploys it`)];
  const reading = await readDefinition(ecs, taskDefinition);
  if ('says' in reading) return [warn(name, reading.says)];
  const { definition } = reading;
  return [checkGuard(pool, definition), checkMakeUp(name, pool, definition)];
}

async function readDefinition(
  ecs: Clients['ecs'],
  arn: string,
): Promise<{ readonly definition: TaskDefinition } | { readonly says: string }> {
  try {
    return { definition: await describeTaskDefinition(ecs, arn) };
  } catch (cause) {
    return { says: `reading ${arn}: ${unreadText(cause, 'ecs:DescribeTaskDefinition')}` };
  }
}

function unreadText(cause: unknown, permission: string): string {
  return `${messageOf(cause)}. ${isDenied(cause) ? `You need ${permission} for this check` : 'Try again'}`;
}

/** Whether the cluster has the capacity providers that the user made. */
async function checkProviders(
  pools: readonly PoolConfig[],
  { ecs, readings: { cluster } }: ClusterReadings,
): Promise<readonly Check[]> {
  const own = pools.flatMap(({ name, instances }) =>
    instances === undefined ? [] : [{ name: `pool "${name}": capacity provider`, ...instances }],
  );
  if (own.length === 0) return [];
  try {
    const { clusters } = await ecs.send(new DescribeClustersCommand({ clusters: [cluster] }));
    const found = clusters?.[0]?.capacityProviders ?? [];
    return own.map(({ name, provider }) =>
      found.includes(provider)
        ? ok(name, `the cluster has "${provider}"`)
        : fail(
            name,
            `the cluster has ${found.join(', ') || 'none'}, but not "${provider}". Run aws ecs put-cluster-capacity-providers with all their names`,
          ),
    );
  } catch (cause) {
    return own.map(({ name }) =>
      warn(name, `reading the cluster: ${unreadText(cause, 'ecs:DescribeClusters')}`),
    );
  }
}

function checkOthers(findings: readonly Finding[]): Check {
  const left = findings.filter(({ code }) => code === 'service-without-pool').map(sentenceOf);
  return left.length === 0 ? ok(OTHERS, 'every service belongs to a pool') : warn(OTHERS, left.join('; '));
}

const guard = readFileSync(new URL('../../guard/guard.sh', import.meta.url), 'utf8');
/** In every version of the guard: the path for a task's own protection (docs/internals/aws.md §1). */
const OF_ANY_GUARD = 'task-protection/v1/state';

function checkGuard({ name: pool }: PoolConfig, definition: TaskDefinition): Check {
  const name = `pool "${pool}": guard`;
  const { entryPoint = [], command = [] } = provisionerOf(definition) ?? {};
  const words = [...entryPoint, ...command];
  if (words.includes(guard)) return ok(name, 'has this version');
  if (words.some((word) => word.includes(OF_ANY_GUARD)))
    return warn(name, 'has another version. Deploy (cdk deploy) to get this version');
  return fail(
    name,
    'is not the entry point of the tasks, so ECS may stop running builds. Deploy (cdk deploy)',
  );
}

function checkMakeUp(name: string, pool: PoolConfig, definition: TaskDefinition): Check {
  const { cpu, memory, runtimePlatform } = definition;
  const differences = [
    ['image', provisionerOf(definition)?.image, pool.image],
    ['cpu', cpu, `${pool.cpu}`],
    ['memory', memory, `${pool.memory}`],
    ['architecture', runtimePlatform?.cpuArchitecture?.toLowerCase(), pool.architecture],
  ].flatMap(([what, runs = 'none', wanted]) =>
    runs === wanted ? [] : [`${what} ${runs} instead of ${wanted}`],
  );
  if (differences.length === 0) return ok(name, `${pool.image}, ${pool.cpu} CPU units, ${pool.memory} MiB`);
  return warn(name, `has ${differences.join(', ')}. Deploy (cdk deploy) to apply the configuration`);
}

const SCALABLE_TARGETS = 'application auto scaling';

const DIMENSION = { ServiceNamespace: 'ecs', ScalableDimension: 'ecs:service:DesiredCount' } as const;

async function checkScalableTargets(services: readonly Service[], until: AbortSignal): Promise<Check> {
  const client = new ApplicationAutoScalingClient({ requestHandler: PATIENT });
  client.middlewareStack.add(endingWith(until), EACH_TRY);
  try {
    const own = new Set(services.map(resourceOf));
    const targets = (await listTargets(client, until)).filter(({ ResourceId = '' }) => own.has(ResourceId));
    return targets.length === 0
      ? ok(SCALABLE_TARGETS, 'no service of a pool is a scalable target')
      : fail(SCALABLE_TARGETS, targets.map(conflictOf).join('; '));
  } catch (cause) {
    const text = unreadText(cause, 'application-autoscaling:DescribeScalableTargets');
    return warn(SCALABLE_TARGETS, `listing scalable targets: ${text}`);
  } finally {
    client.destroy();
  }
}

/** `service/<cluster>/<service>`: the last part of the ARN. */
function resourceOf({ serviceArn }: Service): string {
  return serviceArn.slice(serviceArn.lastIndexOf(':') + 1);
}

/** Throws if the list is incomplete. */
async function listTargets(
  client: ApplicationAutoScalingClient,
  signal: AbortSignal,
): Promise<readonly ScalableTarget[]> {
  const read = async (NextToken: string | undefined) => {
    const page = await client.send(new DescribeScalableTargetsCommand({ ...DIMENSION, NextToken }));
    return { items: page.ScalableTargets ?? [], next: page.NextToken };
  };
  const { items, incomplete } = await readPages('DescribeScalableTargets', read, { signal });
  if (incomplete !== undefined) throw new Error(incomplete);
  return items;
}

function conflictOf({ ResourceId, MinCapacity, MaxCapacity }: ScalableTarget): string {
  return `Application Auto Scaling also sizes ${ResourceId} (${MinCapacity} to ${MaxCapacity} tasks), so two autoscalers change one count. Run: aws application-autoscaling deregister-scalable-target --service-namespace ecs --scalable-dimension ${DIMENSION.ScalableDimension} --resource-id ${quoted(`${ResourceId}`)}`;
}
