import { checkConfig } from '../../lambda/config/check.ts';
import { connect } from '../../lambda/connect.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { observe } from '../../lambda/look/observe.ts';
import { serveWorld } from '../../simulator/serve.ts';
import type { Fleet } from './fleet.ts';

type Addresses = { readonly coderdUrl: string; readonly awsUrl: string };
export type Observed = { readonly snapshot: Snapshot; readonly config: Config };

/** What the first look of a function reads of a deployment. */
export async function observeFleet(fleet: Fleet): Promise<Observed> {
  const served = await serveWorld(fleet.world);
  const observed = await observeServed(fleet, served);
  await served.close();
  return observed;
}

/** The same of one that is served already. */
export async function observeServed(fleet: Fleet, { coderdUrl, awsUrl }: Addresses): Promise<Observed> {
  Object.assign(process.env, {
    ...{ AWS_ENDPOINT_URL_ECS: awsUrl, AWS_ENDPOINT_URL_SECRETS_MANAGER: awsUrl },
    ...{ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' },
  });
  const { config } = checkConfig(fleet.config(coderdUrl));
  const connection = connect(config, fleet.world.ecs.clusterName, undefined);
  const snapshot = await observe(connection.ports(), config);
  await connection.close();
  return { snapshot, config };
}
