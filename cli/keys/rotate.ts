/** `autoscaler keys rotate`: starts a rotation, for which Secrets Manager runs the key function. */
import type { Command } from 'commander';
import { isDenied } from '../../lambda/adapters/shared/aws-calls.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { KEY_ID_TAG, POOL_TAG, STACK_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import { KeysError } from '../../lambda/keys/model/keys-error.ts';
import type { SecretInfo } from '../../lambda/keys/model/ports.ts';
import { CURRENT, pendingVersion, versionWith } from '../../lambda/keys/steps/read-keys.ts';
import { connectAsPerson, type KeysConnection, needs } from '../doctor/keys-connection.ts';
import { whileWorking } from '../shared/activity.ts';
import { checkAwsSetup, withAdvice } from '../shared/aws-advice.ts';
import { type CliEnvironment, type CommandContext, InputError } from '../shared/cli-environment.ts';
import {
  type JsonOptions,
  readConfig,
  repeated,
  withJsonOption,
  withLiveOptions,
} from '../shared/live-options.ts';
import { findPool, findService } from '../shared/override-target.ts';
import { wrapLines } from '../shared/plain-table.ts';
import { quoted, shellLine } from '../shared/shell-words.ts';
import { clusterOf } from '../shared/stack-cluster.ts';

export function addKeysCommand(program: Command, { cliEnvironment }: CommandContext): void {
  const keys = program.command('keys').description('rotate the credentials of the pools');
  withJsonOption(withLiveOptions(keys.command('rotate')), 'what was started')
    .description('replace the managed key of a pool with a new one; running builds continue')
    .argument('<pool>', 'the name of the pool')
    .action(async (pool: string, options: JsonOptions) => {
      const started = await rotate(pool, options, cliEnvironment);
      const text = options.json
        ? JSON.stringify(started, null, 2)
        : wrapLines(started.says, cliEnvironment.columns);
      cliEnvironment.out(`${text}\n`);
    });
}

type Started = {
  readonly version: 1;
  readonly pool: string;
  readonly secret: string;
  /** The id of the new version of the secret. */
  readonly rotation: string | null;
  readonly oldKeyId: string | null;
  readonly says: string;
};

async function rotate(name: string, options: JsonOptions, environment: CliEnvironment): Promise<Started> {
  const { config, caBundle } = readConfig(options.config, environment);
  const pool = findPool(name, config.pools);
  refuseOthers(pool);
  const cluster = await clusterOf(options, environment, config);
  const connection = connectAsPerson(config, { caBundle, cluster, token: config.coder.token });
  try {
    const secret = await whileWorking('starting the rotation', environment, () => start(pool, connection));
    return { ...secret, version: 1, pool: name, says: sayNext(pool, secret, options) };
  } finally {
    await connection.close();
  }
}

function refuseOthers({ name, auth }: PoolConfig): void {
  if (auth.kind === 'managed') return;
  throw new InputError(
    `rotating the key of pool "${name}": it has ${OWN[auth.kind]}, which the stack does not manage. Replace it by hand: docs/credentials.md, "Replace a key by hand"`,
  );
}

const OWN = { key: 'a key of its own', psk: "coderd's pre-shared key", token: "a user's token" } as const;

type StartedSecret = Pick<Started, 'secret' | 'rotation' | 'oldKeyId'>;

async function start({ name }: PoolConfig, connection: KeysConnection): Promise<StartedSecret> {
  await checkAwsSetup(connection.clients.ecs);
  const stack = stackOf(name, await connection.ecs.services());
  try {
    const found = findSecret(name, stack, await connection.secrets.ofStack(stack));
    const secret = await connection.secrets.describe(found.id);
    refuseUnready(name, secret);
    const rotation = await connection.startRotation(secret.id);
    return { secret: secret.name, rotation: rotation ?? null, oldKeyId: secret.tags[KEY_ID_TAG] ?? null };
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    throw new InputError(`rotating the key of pool "${name}": ${describe(cause)}`, { cause });
  }
}

/** Throws InputError. */
function stackOf(pool: string, services: Parameters<typeof findService>[1]): string {
  const service = findService(pool, services);
  const stack = tagOf(service, STACK_TAG);
  if (stack !== undefined) return stack;
  throw new InputError(
    `finding the stack of pool "${pool}": service ${service.serviceName} has no tag ${STACK_TAG}. Deploy the stack again`,
  );
}

function findSecret(pool: string, stack: string, secrets: readonly SecretInfo[]): SecretInfo {
  const found = secrets.filter(({ tags }) => tags[POOL_TAG] === pool);
  const [secret] = found;
  if (secret !== undefined && found.length === 1) return secret;
  const seen =
    secret === undefined
      ? `no secret of stack "${stack}" has the tag ${POOL_TAG}=${pool}. Deploy the configuration`
      : `${found.length} secrets of stack "${stack}" have the tag ${POOL_TAG}=${pool} (${found.map((it) => it.name).join(', ')}). Wait for the end of a deployment. If there is none, remove the tag from the secrets that the tasks do not use`;
  throw new InputError(`finding the secret of pool "${pool}": ${seen}`);
}

function refuseUnready(pool: string, secret: SecretInfo): void {
  if (versionWith(secret, CURRENT) === undefined)
    throw new InputError(
      `rotating the key of pool "${pool}": secret "${secret.name}" has no value, so the key function has not made the first key yet. Wait for the end of the deployment. If there is none, run autoscaler doctor`,
    );
  const pending = pendingVersion(secret);
  if (pending !== undefined) throw new InputError(running(pool, secret, pending.id));
}

/** docs/internals/aws.md §4: Secrets Manager repeats a rotation that failed. */
function running(pool: string, { name }: SecretInfo, version: string): string {
  return `rotating the key of pool "${pool}": a rotation of secret "${name}" is running or has failed: version ${version} is pending. Secrets Manager repeats a failed rotation by itself. Read the log of the key function for the cause. To give this rotation up, run:\n\naws secretsmanager update-secret-version-stage --secret-id ${quoted(name)} --version-stage AWSPENDING --remove-from-version-id ${version}`;
}

function describe(cause: unknown): string {
  if (isDenied(cause)) return needs('RotateSecret', cause);
  const name = cause instanceof Error && !(cause instanceof KeysError) ? `${cause.name}: ` : '';
  const said = `${name}${messageOf(cause)}`.replace(/\.$/, '');
  return /previous rotation/.test(said)
    ? `${said}. Wait until it ends: autoscaler doctor shows it`
    : withAdvice(said);
}

function sayNext({ name }: PoolConfig, { secret }: StartedSecret, options: JsonOptions): string {
  return [
    `pool "${name}": started the rotation of its key, in secret "${secret}"`,
    'Next:',
    '  1. The key function makes a key, tries it and stores it as the current one. This takes a minute.',
    '  2. New tasks get the new key. The autoscaler replaces the others, a share at a time. Running builds finish first.',
    '  3. Once no task and no daemon uses the old key, the key function deletes it in coderd. It looks every 15 minutes.',
    `Follow it with: ${shellLine(['autoscaler', 'doctor', ...repeated(options)])}`,
  ].join('\n');
}
