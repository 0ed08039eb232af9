/** The whole file with all defaults filled in: the settings of the decision and those of `cdk deploy`. */
import type { z } from 'zod';
import type { Capacity, Config, PoolConfig, SecretRef } from '../../decision/model/config.ts';
import { partsOf } from '../../decision/settings/parts.ts';
import type { aws } from '../schema/aws-schema.ts';
import type { poolDeployment } from '../schema/pool-deployment-schema.ts';

type Constant<T> = T extends object ? { readonly [Name in keyof T]: Constant<T[Name]> } : T;
type Read<Setting extends z.ZodType> = Constant<z.output<Setting>>;

/** Only the deployment uses these; the schemas describe them. */
export type AwsSettings = Read<typeof aws>;
type PoolDeployment = Read<z.ZodObject<typeof poolDeployment>>;

export type DeployedPool = PoolConfig & PoolDeployment;

export type Deployment = Omit<Config, 'pools'> & {
  readonly pools: readonly DeployedPool[];
  readonly aws: AwsSettings;
};

/** The pools, or their parts, that run on this kind of Fargate's capacity. */
export function partsOn(capacity: Capacity, pools: readonly DeployedPool[]): readonly DeployedPool[] {
  return pools
    .flatMap(partsOf)
    .filter(({ instances }) => instances === undefined)
    .filter(({ spot }) => spot === (capacity === 'spot'));
}

/** The secrets that the configuration names for the tasks of pools. The stack makes managed keys. */
export function secretsOf(pools: readonly Pick<PoolConfig, 'auth' | 'secrets'>[]): readonly SecretRef[] {
  return pools.flatMap(({ auth, secrets }) => [
    ...(auth.kind === 'managed' ? [] : [auth.secret]),
    ...Object.values(secrets),
  ]);
}
