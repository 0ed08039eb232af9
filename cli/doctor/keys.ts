/**
 * Has each pool a key, and do daemons with it become what the pool is to be? And its other secrets.
 */
import { type ProvisionerKey, readProvisionerKey } from '../../lambda/adapters/coderd/account.ts';
import { CoderdError } from '../../lambda/adapters/coderd/http/http.ts';
import type { Clients } from '../../lambda/connect.ts';
import type { PoolConfig, SecretRef } from '../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { displayTags, tagKey } from '../../lambda/decision/model/tags.ts';
import { tagText } from '../../lambda/explain/format.ts';
import { type Check, fail, ok, skip } from './check.ts';
import { organizationOf } from './organizations.ts';
import { readSecret } from './secret.ts';

const READER = "the tasks' execution role";

type Around = Pick<Clients, 'coderd' | 'secrets'> & {
  /** Absent: it could not be read. */
  readonly coder: Snapshot['coder'] | undefined;
  /** For want of which no key can be tried. */
  readonly blocker: string | undefined;
};

/** In the order of the pools. A key that several share is asked for once. */
export function checkKeys(
  pools: readonly PoolConfig[],
  around: Around,
): Promise<readonly (readonly Check[])[]> {
  const sights = new Map<string, Promise<KeyReading>>();
  const sightOf = (ref: SecretRef): Promise<KeyReading> => {
    const name = JSON.stringify([ref.secret, ref.jsonKey]);
    const sight = sights.get(name) ?? readKey(ref, around);
    sights.set(name, sight);
    return sight;
  };
  return Promise.all(
    pools.map(async (pool) => [
      judgeKey(pool, await sightOf(pool.key), around),
      ...(await checkOtherSecrets(pool, around)),
    ]),
  );
}

type KeyReading =
  | { readonly key: ProvisionerKey }
  | {
      readonly status: Exclude<Check['status'], 'ok'>;
      readonly says: string;
      /** Another key is needed. */
      readonly isRefused?: boolean;
    };

async function readKey(ref: SecretRef, { coderd, secrets, blocker }: Around): Promise<KeyReading> {
  const sight = await readSecret(secrets, ref, { name: '', reader: READER });
  if ('check' in sight)
    return { status: sight.check.status === 'warn' ? 'warn' : 'FAIL', says: sight.check.says };
  if (blocker !== undefined) return { status: 'skip', says: skip('', blocker).says };
  try {
    return { key: await readProvisionerKey(coderd, sight.value) };
  } catch (cause) {
    if (!(cause instanceof CoderdError)) throw cause;
    const said = cause.message;
    if (cause.code === 'unreachable' || cause.code === 'rate-limited')
      return { status: 'warn', says: `the key in secret "${ref.secret}" could not be tried: ${said}` };
    const says = `the key in secret "${ref.secret}" is not accepted: ${said}`;
    // coderd's words for a key that it does not know: anything else may pass
    return { status: 'FAIL', says, isRefused: said.includes('provisioner daemon key invalid') };
  }
}

function judgeKey(pool: PoolConfig, sight: KeyReading, { coder }: Around): Check {
  const name = `pool "${pool.name}": key`;
  if (!('key' in sight))
    return {
      name,
      status: sight.status,
      says: sight.isRefused ? `${sight.says}; ${renewed(pool)}` : sight.says,
    };
  const { key } = sight;
  const organization = coder === undefined ? undefined : organizationOf(coder, pool.organization);
  if (key.tags?.scope === 'user')
    return fail(
      name,
      `key "${key.name}" has the tag scope=user, so its daemons run no job of the organization; ${renewed(pool)}`,
    );
  if (organization !== undefined && key.organization !== organization.id)
    return fail(
      name,
      `key "${key.name}" is of organization ${nameOf(key, coder)}, the pool of "${pool.organization}"; ${renewed(pool)}`,
    );
  if (tagKey(key.tags ?? {}) !== tagKey(pool.tags))
    return fail(
      name,
      `key "${key.name}" has ${shown(key.tags ?? {})}, the pool ${shown(pool.tags)}; ${renewed(pool)}, or correct the pool's tags`,
    );
  // that the organization can't be read is said where it was tried
  const compared =
    organization === undefined ? 'tags; its organization was not compared' : 'organization and tags';
  return ok(name, `key "${key.name}" has the pool's ${compared}`);
}

function nameOf({ organization }: ProvisionerKey, coder: Snapshot['coder'] | undefined): string {
  const known = coder === undefined ? undefined : organizationOf(coder, organization);
  return known === undefined ? organization : `"${known.name}"`;
}

const shown = (tags: PoolConfig['tags']): string => `tags ${tagText(displayTags(tags))}`;

/** docs/coder.md §3: a key's tags can't be changed. */
function renewed({ name, organization, tags, key }: PoolConfig): string {
  const options = Object.entries(tags).map(([tag, value]) => ` --tag ${tag}=${value}`);
  return `make one (coder provisioner keys create ${name} --org ${organization}${options.join('')}) and put it into secret "${key.secret}"`;
}

async function checkOtherSecrets(pool: PoolConfig, { secrets }: Around): Promise<readonly Check[]> {
  const refs = Object.entries(pool.secrets);
  if (refs.length === 0) return [];
  const sights = await Promise.all(
    refs.map(([variable, ref]) =>
      readSecret(secrets, ref, { name: `pool "${pool.name}": secret ${variable}`, reader: READER }),
    ),
  );
  const wrong = sights.flatMap((sight) => ('check' in sight ? [sight.check] : []));
  if (wrong.length > 0) return wrong;
  const variables = refs.map(([variable]) => variable).join(', ');
  return [ok(`pool "${pool.name}": secrets`, `${variables} readable`)];
}
