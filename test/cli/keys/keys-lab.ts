/**
 * `autoscaler keys` over HTTP: a world with a pool `cpu`, which has a key of its own, and a pool
 * `gpu` with a managed key, for which the test runs the real key function.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ROTATION_STEPS } from '../../../lab/world/secrets/model.ts';
import type { StoredSecret } from '../../../lab/world/secrets/secret.ts';
import type { World } from '../../../lab/world/world.ts';
import { loadConfig } from '../../../lambda/config/load.ts';
import { POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { connectKeys } from '../../../lambda/keys/connect.ts';
import { deploymentOf, type OwnDeployment } from '../../../lambda/keys/model/pool.ts';
import { managedPoolsOf, serveKeyEvent } from '../../../lambda/keys/serve.ts';
import { type Answer, runIn } from '../../support/cli-run.ts';
import { type Lab, type LabPool, labConfig, startLab } from '../../support/lab.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { asPerson } from '../../support/own-labs.ts';

const CPU: LabPool = { name: 'cpu', organization: 'default', tags: {} };
export const GPU: LabPool = {
  name: 'gpu',
  organization: 'data',
  tags: { gpu: 'a10', note: `it's "new", ok` },
};

export const SECRET = 'Stack-KeysSecretgpu';
export const KEY_TOKEN = 'coder/key-function-token';
const STACK_ID = 'arn:aws:cloudformation:eu-central-1:123456789012:stack/Stack/5c1e';
export const DEPLOYMENT: OwnDeployment = deploymentOf('Stack', STACK_ID);

type Settings = Record<string, unknown>;
export type KeysLabOptions = {
  readonly psk?: string;
  readonly pools?: readonly LabPool[];
  /** Changes the settings of the file. */
  readonly settings?: (pools: readonly Settings[], config: Settings) => void;
};

/** Labs that are closed after each test, whose commands run with the credentials of a person. */
export function keysLabs(): {
  readonly file: string;
  readonly start: (options?: KeysLabOptions) => Promise<KeysLab>;
} {
  const folder = ownFolder();
  const file = join(folder, 'autoscaler.yaml');
  asPerson();
  return { file, start: (options = {}) => KeysLab.start(file, options) };
}

export class KeysLab {
  readonly lab: Lab;
  readonly file: string;

  constructor(lab: Lab, file: string) {
    this.lab = lab;
    this.file = file;
  }

  static async start(file: string, given: KeysLabOptions): Promise<KeysLab> {
    const { settings, pools = [CPU, GPU], ...options } = given;
    const lab = await startLab({ pools, organizations: ['default', 'data'], ...options });
    const { world } = lab;
    world.secrets.put(KEY_TOKEN, world.coderd.addToken({ canRead: 'all', keyRights: ALL }));
    const tags = { 'aws:cloudformation:stack-id': STACK_ID, [STACK_TAG]: world.stackName };
    world.secrets.create(SECRET, { ...tags, [POOL_TAG]: 'gpu' });
    const config = labConfig(lab.coderdUrl, pools);
    const written = config.pools as Settings[];
    const gpu = written.find(({ name }) => name === 'gpu');
    if (gpu !== undefined) Object.assign(gpu, { key: 'managed' });
    config.managedKeys = { token: { secret: KEY_TOKEN } };
    settings?.(written, config);
    writeFileSync(file, stringify(config));
    return new KeysLab(lab, file);
  }

  get world(): World {
    return this.lab.world;
  }

  secret(name = SECRET): StoredSecret {
    const found = this.world.secrets.find(name);
    if (found === undefined) throw new Error(`the secret ${name} is missing`);
    return found;
  }

  /** Runs `autoscaler keys`. No value of a secret may be in its output. */
  keys(...args: readonly string[]): Promise<Answer> {
    return this.run('keys', ...args);
  }

  async run(...args: readonly string[]): Promise<Answer> {
    const { world } = this;
    const environment = { AUTOSCALER_CLUSTER: world.ecs.clusterName };
    const now = () => world.timeline.now();
    const answer = await runIn({ environment, now, answerMs: 60_000 }, ...args, '--config', this.file);
    const out = answer.out.replaceAll(this.lab.coderdUrl, 'CODERD').replaceAll(this.file, 'FILE');
    return { ...answer, out };
  }

  /** Runs the key function. Then tasks that start get the current key, as ECS gives it to them. */
  async serve(event: unknown): Promise<unknown> {
    const { config } = loadConfig(this.file);
    const cluster = this.world.ecs.clusterName;
    const log = { info: () => {}, warn: () => {} };
    const given = { cluster, caBundle: undefined, deployment: DEPLOYMENT, log };
    const { ports, close } = connectKeys(config, given);
    const clock = { now: () => this.world.timeline.now(), sleep: async () => {} };
    try {
      const answer = await serveKeyEvent(event, { ...ports, clock }, managedPoolsOf(config));
      const { key } = JSON.parse(this.secret().value ?? '{}');
      if (key !== undefined) this.world.secrets.put('coder/keys/gpu', key);
      return answer;
    } finally {
      await close();
    }
  }

  /** What the deployment of the stack does. */
  createKey(): Promise<unknown> {
    const { organization: Organization, tags } = GPU;
    const properties = {
      Pool: 'gpu',
      Organization,
      Tags: JSON.stringify(tags),
      SecretArn: this.secret().arn,
    };
    return this.serve({ RequestType: 'Create', RequestId: 'request-1', ResourceProperties: properties });
  }

  /** What Secrets Manager does after RotateSecret. */
  async finishRotation(): Promise<void> {
    const secret = this.secret();
    const ClientRequestToken = secret.withStage('AWSPENDING')?.id ?? '';
    for (const Step of ROTATION_STEPS) await this.serve({ Step, SecretId: secret.arn, ClientRequestToken });
  }

  /** Starts a task, and lets its daemon connect. */
  startTask(pool: string): void {
    const { name } = this.world.service(pool).identity;
    this.world.ecs.setDesiredCount(name, this.world.service(pool).state.desiredCount + 1);
    this.lab.pass(120);
  }

  /** The keys of an organization by name. */
  keysIn(organization: string) {
    return this.world.coderd.keys.list(this.world.coderd.organizationId(organization));
  }
}

const ALL = { read: 'all', create: 'all', delete: 'all' } as const;
