/** The secrets of the pools' tasks: metadata, never values, in AWS's own names. */
import type { EpochMs, PoolName } from './brands.ts';
import { unique } from './collections.ts';
import type { PoolAuth, PoolConfig } from './config.ts';
import { POOL_TAG, STACK_TAG } from './service-tags.ts';
import { MINUTE_MS } from './units.ts';

/** A version with the stage AWSCURRENT or AWSPREVIOUS. */
export type SecretVersion = {
  readonly VersionId: string;
  readonly VersionStages: readonly string[];
  readonly CreatedDate?: EpochMs | undefined;
};

export type SecretEntry = {
  readonly ARN: string;
  readonly Name: string;
  /** When the secret was created, with or without a value. */
  readonly CreatedDate?: EpochMs | undefined;
  /** The last change of anything, tags included. */
  readonly LastChangedDate?: EpochMs | undefined;
  /** When AWSCURRENT moved, if the process saw it. Not AWS's own field. */
  readonly CurrentSince?: EpochMs | undefined;
  /** Only tags of the autoscaler. */
  readonly Tags: readonly { readonly Key: string; readonly Value: string }[];
  /** Absent: not read, because no task is older than the last change; or unreadable. */
  readonly Versions?: readonly SecretVersion[] | undefined;
};

/** A task created sooner may get the earlier value (docs/internals/aws.md §3). */
export const SPREADS_WITHIN_MS = 2 * MINUTE_MS;

/** What a pool uses a secret for. `variable`: a variable of `secrets` in its settings. */
export type SecretKind = PoolAuth['kind'] | 'variable';

export type UsedSecret = {
  readonly kind: SecretKind;
  /** A name or ARN; undefined: the secret that the stack makes for the pool. */
  readonly secret: string | undefined;
};

/** The secrets that a pool's tasks get, each once: first the one for coderd. */
export function secretsOf({ auth, secrets }: Pick<PoolConfig, 'auth' | 'secrets'>): readonly UsedSecret[] {
  const used: readonly UsedSecret[] = [
    { kind: auth.kind, secret: auth.kind === 'managed' ? undefined : auth.secret.secret },
    ...Object.values(secrets).map(({ secret }) => ({ kind: 'variable', secret }) as const),
  ];
  return unique(used, ({ secret }) => secret ?? '');
}

export type SecretOwner = { readonly pool: PoolName; readonly stack: string | undefined };

/** Finds the entry of a secret of a pool; undefined if there is none, or more than one. */
export function findSecret<T extends Pick<SecretEntry, 'ARN' | 'Name' | 'Tags'>>(
  entries: readonly T[],
  { secret }: UsedSecret,
  owner: SecretOwner,
): T | undefined {
  const found = entries.filter((entry) =>
    secret === undefined ? isMadeFor(entry, owner) : isNamed(entry, secret),
  );
  return found.length === 1 ? found[0] : undefined;
}

/** The length of a hyphen and the six characters that AWS appends (docs/internals/aws.md §4). */
const SUFFIX_LENGTH = 7;

/** Whether this is the secret with this name, ARN, or ARN without its suffix. */
function isNamed({ ARN, Name }: Pick<SecretEntry, 'ARN' | 'Name'>, secret: string): boolean {
  if (!secret.startsWith('arn:')) return Name === secret;
  return ARN === secret || (ARN.startsWith(`${secret}-`) && ARN.length === secret.length + SUFFIX_LENGTH);
}

/** Whether the stack made this secret for the pool. */
function isMadeFor(entry: Pick<SecretEntry, 'Tags'>, { pool, stack }: SecretOwner): boolean {
  return (
    secretTag(entry, POOL_TAG) === pool && (stack === undefined || secretTag(entry, STACK_TAG) === stack)
  );
}

/** The value of a tag of a secret. */
export function secretTag({ Tags }: Pick<SecretEntry, 'Tags'>, wanted: string): string | undefined {
  return Tags.find(({ Key }) => Key === wanted)?.Value;
}
