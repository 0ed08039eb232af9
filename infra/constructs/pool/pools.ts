import { readFileSync } from 'node:fs';
import { Aws, CfnMapping, Names } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import { partsOf } from '../../../lambda/decision/settings/parts.ts';
import { isPlain } from '../plain/plain-stack.ts';
import type { ManagedKey } from '../shared/secrets.ts';
import { PoolService, type PoolServiceProps } from './pool-service.ts';
import type { ProvisionerPool } from './provisioner-pool.ts';

/** What all pools of a deployment share. */
type Shared = Pick<PoolServiceProps, 'network' | 'cluster' | 'ready' | 'logs' | 'autoscalerLogGroup'> & {
  readonly caBundle: string | undefined;
  /** By pool name. */
  readonly managedKeys: Readonly<Record<string, ManagedKey>>;
};

/** Adds a service for each pool of the settings. The result has the pools by name. */
export function addPools(
  scope: Construct,
  { coder, pools, aws }: Deployment,
  { caBundle, managedKeys, ...shared }: Shared,
): Record<string, ProvisionerPool> {
  const texts = containerTexts(scope, caBundle);
  const services = pools.flatMap((configured) => {
    const props = {
      ...shared,
      ...texts,
      coderUrl: coder.url,
      managedKey: ownValue(managedKeys, configured.name),
      earlySuccess: aws.earlySuccess,
      guardDuty: aws.guardDuty,
      perPoolMetrics: aws.metrics.perPool,
    };
    const [own, onSpot] = partsOf(configured);
    const first = new PoolService(scope, `Pool-${configured.name}`, { ...props, pool: own });
    if (onSpot === undefined) return [first];
    // a grant to the pool is one to all its tasks
    const { taskRole } = first;
    return [
      first,
      new PoolService(scope, `PoolSpot-${configured.name}`, { ...props, pool: onSpot, taskRole }),
    ];
  });
  return Object.fromEntries(services.map((service) => [service.poolName, service]));
}

/**
 * An IAM pattern of the families of the pools' task definitions, those of removed pools too. Without
 * a family, CDK makes one of the ids of the constructs and a hash.
 */
export function taskFamilies(scope: Construct): string {
  return isPlain(scope) ? `${Aws.STACK_NAME}-*` : `${Names.uniqueId(scope).replace(/[0-9A-F]{8}$/, '')}Pool*`;
}

/**
 * The text of guard.sh and of the certificates, which are part of the task definitions. A changed
 * text makes a new revision. The template has each text once, in a mapping, because fifty copies
 * would exceed 1 MB.
 */
function containerTexts(scope: Construct, caBundle: string | undefined) {
  const sh = readFileSync(new URL('../../../guard/guard.sh', import.meta.url), 'utf8');
  const texts = { sh, ...(caBundle !== undefined && { ca: caBundle }) };
  const mapping = new CfnMapping(scope, 'Guard', { lazy: false, mapping: { guard: texts } });
  return {
    guard: mapping.findInMap('guard', 'sh'),
    caBundle: caBundle === undefined ? undefined : mapping.findInMap('guard', 'ca'),
  };
}
