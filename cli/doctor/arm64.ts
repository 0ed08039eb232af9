/** Warns of Terraform providers that do not exist for arm64, in templates whose jobs a pool on arm64 runs. */

import { settleAll } from '../../lambda/adapters/coderd/forecast/settle-all.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { canRun } from '../../lambda/decision/model/tags.ts';
import { few, some } from '../../lambda/explain/format.ts';
import { readProviders, readTemplateTags } from '../adapters/templates.ts';
import type { DoctorContext } from './access.ts';
import { type Check, ok, skip, warn } from './check/check.ts';
import { organizationOf } from './coderd.ts';

const NAME = 'arm64';

/** None if no such template has a provider. */
export async function checkArm64(
  context: DoctorContext,
  coder: Snapshot['coder'] | undefined,
  blocker = '',
): Promise<readonly Check[]> {
  const pools = context.config.pools.filter(({ architecture }) => architecture === 'arm64');
  if (pools.length === 0) return [];
  if (coder === undefined) return [skip(NAME, blocker)];
  try {
    const uses = await readUses(context, coder, pools);
    const byProvider = [...Map.groupBy(uses, ({ provider }) => provider)];
    const registry = context.cliEnvironment.registry ?? REGISTRY;
    const lacking = await Promise.all(byProvider.map(([provider]) => lacksArm64(provider, registry)));
    const warnings = byProvider.filter((_, index) => lacking[index]).map(warningOf);
    if (warnings.length > 0 || uses.length === 0) return warnings;
    return [ok(NAME, `${some(byProvider.length, 'provider')} of templates exist for arm64`)];
  } catch (cause) {
    return [{ name: NAME, status: 'skip', says: `unknown, because ${messageOf(cause)}` }];
  }
}

/** `place`: a template that has the provider, and a pool that runs its jobs. */
type Use = { readonly provider: string; readonly place: string };

/** coderd limits the requests of a user. */
const AT_ONCE = 8;

async function readUses(
  { clients: { coderd }, until }: DoctorContext,
  coder: Snapshot['coder'],
  pools: readonly PoolConfig[],
): Promise<readonly Use[]> {
  const templates = await readTemplateTags(coderd, until);
  const outcomes = await settleAll(templates, AT_ONCE, async ({ name, organization, version, tags }) => {
    const places = pools
      .filter((pool) => organizationOf(coder, pool.organization)?.id === organization)
      .filter((pool) => tags !== undefined && canRun(pool.tags, tags))
      .map((pool) => `template "${name}" in pool "${pool.name}"`);
    const providers = places.length === 0 ? [] : await readProviders(coderd, version);
    return providers.flatMap((provider) => places.map((place) => ({ provider, place })));
  });
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

function warningOf([provider, uses]: readonly [string, readonly Use[]]): Check {
  const places = few(uses.map(({ place }) => place));
  return warn(
    NAME,
    `${provider} does not exist for arm64, so builds with it fail: ${places}. Write architecture: x86_64 in the pool, or use another version or provider in the template`,
  );
}

const REGISTRY = 'https://registry.terraform.io';
/** A registry out of reach must not hold up the other checks. */
const REGISTRY_MS = 3_000;

/** Asks as Terraform does. What the registry does not know for amd64 either, only a mirror has. */
async function lacksArm64(provider: string, registry: string): Promise<boolean> {
  const url = `${registry}/v1/providers/${provider.replace(' ', '/')}/download/linux`;
  const signal = AbortSignal.timeout(REGISTRY_MS);
  const has = async (architecture: string): Promise<boolean> => {
    const answer = await fetch(`${url}/${architecture}`, { signal }).catch((cause: unknown) => {
      throw new Error(`${registry} did not answer (${messageOf(cause)})`, { cause });
    });
    await answer.body?.cancel();
    if (answer.ok || answer.status === 404) return answer.ok;
    throw new Error(`${registry} answered ${answer.status}`);
  };
  return !(await has('arm64')) && (await has('amd64'));
}
