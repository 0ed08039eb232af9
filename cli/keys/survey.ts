/** Reads what `autoscaler keys list` shows. A part that cannot be read gives a sentence instead. */
import type { Config, PoolConfig, SecretRef } from '../../lambda/decision/model/config.ts';
import { few } from '../../lambda/explain/format.ts';
import { poolTasks } from '../../lambda/keys/adapters/pool-tasks.ts';
import { KeysError } from '../../lambda/keys/model/keys-error.ts';
import type {
  KeyFacts,
  Listed,
  Organization,
  PoolTask,
  SecretInfo,
  SeenDaemon,
} from '../../lambda/keys/model/ports.ts';
import { isOfNoConcern } from '../../lambda/keys/steps/read-keys.ts';
import { type KeyReading, readKey } from '../doctor/credentials.ts';
import type { KeysConnection } from '../doctor/keys-connection.ts';
import { findStack } from '../doctor/own-stack.ts';
import { isEverywhere } from '../shared/aws-advice.ts';
import { InputError } from '../shared/cli-environment.ts';

/** Undefined: could not be read. */
export type OrganizationKeys = Organization & {
  readonly keys: Listed<KeyFacts> | undefined;
  readonly daemons: Listed<SeenDaemon> | undefined;
};

export type Survey = {
  readonly stack: string | undefined;
  /** Those of the managed keys of this stack. Undefined: could not be read. */
  readonly secrets: readonly SecretInfo[] | undefined;
  readonly organizations: readonly OrganizationKeys[];
  /** What coderd says to the keys that are not managed, by pool. */
  readonly tried: ReadonlyMap<string, KeyReading>;
  /** By pool. Undefined: could not be read. */
  readonly tasks: ReadonlyMap<string, readonly PoolTask[]> | undefined;
  readonly unread: readonly string[];
  /** Sentences about what was not read and matters less. */
  readonly notes: readonly string[];
};

/** Throws InputError only if AWS does not answer: then nothing is readable, and one message is enough. */
export async function surveyKeys(
  { pools }: Pick<Config, 'pools'>,
  connection: KeysConnection,
): Promise<Survey> {
  const [unread, notes]: [string[], string[]] = [[], []];
  const [inStack, organizations, tried] = await Promise.all([
    readStack(pools, connection, unread),
    readOrganizations(pools, connection, { unread, notes }),
    tryKeys(pools, connection),
  ]);
  const lost = unread.find((line) => line.startsWith(SERVICES) && isEverywhere(line));
  if (organizations.length === 0 && lost !== undefined) throw new InputError(lost);
  return { ...inStack, organizations, tried, unread: [...new Set(unread)], notes };
}

/** How the error of the list of services begins. */
const SERVICES = 'listing services';

async function readStack(pools: readonly PoolConfig[], connection: KeysConnection, unread: string[]) {
  const services = await connection.ecs.services();
  const stack = findStack(pools, services, unread);
  if (stack === undefined) return { stack, secrets: undefined, tasks: undefined };
  const isManaged = pools.some(({ auth }) => auth.kind === 'managed');
  const tasks = poolTasks(() => connection.ecs, stack);
  const [secrets, running] = await Promise.all([
    isManaged ? orUnread(unread, () => readSecrets(stack, connection)) : [],
    orUnread(unread, () => tasks.running()),
  ]);
  return { stack, secrets, tasks: running };
}

/** ListSecrets may lack the last five minutes (docs/internals/aws.md §4). */
async function readSecrets(stack: string, { secrets }: KeysConnection): Promise<readonly SecretInfo[]> {
  const listed = await secrets.ofStack(stack);
  return Promise.all(
    listed.map((secret) =>
      secrets.describe(secret.id).catch((cause: unknown) => {
        if (cause instanceof KeysError) return secret;
        throw cause;
      }),
    ),
  );
}

async function readOrganizations(
  pools: readonly PoolConfig[],
  connection: KeysConnection,
  { unread, notes }: { readonly unread: string[]; readonly notes: string[] },
): Promise<readonly OrganizationKeys[]> {
  const all = await orUnread(unread, () => connection.keys.organizations());
  const skipped: string[] = [];
  const read = (all ?? []).map(async (organization): Promise<OrganizationKeys> => {
    const [keys, daemons] = await Promise.all([
      listOrSkip(pools, organization, { ...connection, unread, skipped }),
      orUnread(unread, () => connection.keys.daemons(organization)),
    ]);
    return { ...organization, keys, daemons };
  });
  const organizations = await Promise.all(read);
  if (skipped.length > 0)
    notes.push(
      `the token's user may not read the keys of these organizations, which have no pool: ${few(skipped.toSorted())}`,
    );
  return organizations;
}

/** A missing right matters less where no pool is. */
async function listOrSkip(
  pools: readonly PoolConfig[],
  organization: Organization,
  on: Pick<KeysConnection, 'keys'> & { readonly unread: string[]; readonly skipped: string[] },
): Promise<Listed<KeyFacts> | undefined> {
  try {
    return await on.keys.list(organization);
  } catch (cause) {
    if (!(cause instanceof KeysError)) throw cause;
    const concerned = pools.map((pool) => pool.organization);
    if (isOfNoConcern(cause, organization, ...concerned)) on.skipped.push(`"${organization.name}"`);
    else on.unread.push(cause.message);
    return undefined;
  }
}

/** A key that several pools share is tried once. */
async function tryKeys(
  pools: readonly PoolConfig[],
  { clients: { coderd, secrets } }: KeysConnection,
): Promise<ReadonlyMap<string, KeyReading>> {
  const context = { coderd, secrets, blocker: undefined, secretsBlocker: undefined };
  const readings = new Map<string, Promise<KeyReading>>();
  const readingOf = (ref: SecretRef): Promise<KeyReading> => {
    const name = JSON.stringify([ref.secret, ref.jsonKey]);
    const reading = readings.get(name) ?? readKey(ref, context);
    readings.set(name, reading);
    return reading;
  };
  const tried = pools.flatMap(({ name, auth }) =>
    auth.kind === 'key' ? [readingOf(auth.secret).then((reading) => [name, reading] as const)] : [],
  );
  return new Map(await Promise.all(tried));
}

async function orUnread<T>(unread: string[], read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof KeysError)) throw cause;
    unread.push(cause.message);
    return undefined;
  }
}
