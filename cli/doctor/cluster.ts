/** Has each pool its service, and are the services' tasks what the configuration says? */
import { describeTaskDefinition, type TaskDefinition } from '../../lambda/adapters/ecs/task-definitions.ts';
import type { Clients } from '../../lambda/connect.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import type { Finding } from '../../lambda/decision/model/plan.ts';
import type { Reading, Service, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { some } from '../../lambda/explain/format.ts';
import { withAdvice } from '../shared/aws-advice.ts';
import { findService } from '../shared/override-target.ts';
import { type Check, fail, ok, saidBy, skip, warn } from './check.ts';
import { checkScalableTargets, SCALABLE_TARGETS } from './scalable-targets.ts';
import { checkGuard, checkMakeUp } from './task-definition.ts';

const CLUSTER = 'cluster';
const OTHERS = 'other services';

export type ClusterReadings = {
  readonly ecs: Clients['ecs'];
  readonly cluster: string | undefined;
  /** Not asked for where no cluster is named. */
  readonly sight: Snapshot['ecs'];
  readonly findings: readonly Finding[];
};

export async function checkCluster(
  pools: readonly PoolConfig[],
  given: ClusterReadings,
): Promise<readonly Check[]> {
  const { cluster, sight, findings } = given;
  const { services, tasks, protections } = sight;
  const head = clusterCheck(given);
  if (cluster === undefined || services.status !== 'ok')
    return [
      head,
      ...[...pools.map(({ name }) => serviceOf(name)), OTHERS, SCALABLE_TARGETS].map((name) =>
        skip(name, CLUSTER),
      ),
    ];
  const [scaling, ...parts] = await Promise.all([
    checkScalableTargets(services.items),
    ...pools.map((pool) => checkService(pool, given)),
  ]);
  return [
    head,
    readingCheck('tasks', tasks),
    readingCheck('task protection', protections),
    ...parts.flat(),
    checkOthers(findings),
    scaling,
  ];
}

function readingCheck(what: string, { status, error, items }: Reading<unknown>): Check {
  const name = `cluster: ${what}`;
  return status === 'ok'
    ? ok(name, `readable, ${items.length} seen`)
    : fail(name, withAdvice(error ?? status));
}

const serviceOf = (pool: string): string => `pool "${pool}": service`;

function clusterCheck({ cluster, sight }: ClusterReadings): Check {
  const { status, error, items } = sight.services;
  if (cluster === undefined)
    return {
      name: CLUSTER,
      status: 'skip',
      says: 'none is named; add --cluster NAME (the stack prints it), or set AUTOSCALER_CLUSTER',
    };
  if (status !== 'ok') return fail(CLUSTER, withAdvice(error ?? status));
  return ok(CLUSTER, `"${cluster}" has ${some(items.length, 'service')} of pools`);
}

async function checkService(
  pool: PoolConfig,
  { ecs, sight: { services } }: ClusterReadings,
): Promise<readonly Check[]> {
  const name = serviceOf(pool.name);
  try {
    const service = findService(pool.name, services);
    return [ok(name, service.serviceName), ...(await checkTasks(pool, service, ecs))];
  } catch (cause) {
    return [fail(name, saidBy(cause))];
  }
}

async function checkTasks(
  pool: PoolConfig,
  { taskDefinition, serviceName }: Service,
  ecs: Clients['ecs'],
): Promise<readonly Check[]> {
  const name = `pool "${pool.name}": task definition`;
  if (taskDefinition === undefined)
    return [warn(name, `service ${serviceName} names none; is it deployed by this stack?`)];
  const sight = await readDefinition(ecs, taskDefinition);
  if ('says' in sight) return [warn(name, sight.says)];
  const { definition } = sight;
  const guard = pool.scaleIn === 'lease' ? [checkGuard(pool, definition)] : [];
  return [...guard, checkMakeUp(name, pool, definition)];
}

async function readDefinition(
  ecs: Clients['ecs'],
  arn: string,
): Promise<{ readonly definition: TaskDefinition } | { readonly says: string }> {
  try {
    return { definition: await describeTaskDefinition(ecs, arn) };
  } catch (cause) {
    const isDenied = cause instanceof Error && cause.name === 'AccessDeniedException';
    const advice = isDenied ? 'to have it checked, ask for ecs:DescribeTaskDefinition' : 'try again';
    return { says: `reading ${arn}: ${saidBy(cause)}; ${advice}` };
  }
}

function checkOthers(findings: readonly Finding[]): Check {
  const left = findings.filter(({ code }) => code === 'service-without-pool').map(sentenceOf);
  return left.length === 0 ? ok(OTHERS, 'none without a pool') : warn(OTHERS, left.join('; '));
}
