/**
 * The secrets of a pool that have changed, and the tasks that still have an earlier value, from the
 * secrets' metadata. ECS does not tell which version of a secret a task got. So tasks are told
 * apart by the id of their daemon's key (managed keys), else by the time of their creation
 * (docs/adr/0033).
 */
import { type EpochMs, plusMs, poolOfPart } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import type { PoolConfig } from '../model/config.ts';
import {
  findSecret,
  type SecretEntry,
  type SecretKind,
  type SecretVersion,
  SPREADS_WITHIN_MS,
  secretsOf,
  secretTag,
} from '../model/secrets.ts';
import { KEY_ID_TAG } from '../model/service-tags.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { TaskView } from './task-state.ts';

/** A secret that a pool's tasks get when they start. */
export type Credential = {
  readonly kind: SecretKind;
  readonly secret: string;
  /** When its present value became current; if that is not known, the last change of anything. */
  readonly changedAt: EpochMs;
  readonly previousAt: EpochMs | undefined;
  /** Tasks created before this time may have an earlier value. */
  readonly newFrom: EpochMs;
  /** The id of the key tells only about tasks created before this time. */
  readonly knownFrom: EpochMs;
  /** The id of the key in the present value. Only a managed key has one. */
  readonly keyId: string | undefined;
};

/** Derives the credentials whose change has spread, the latest first. `now` is AWS's time. */
export function deriveCredentials(
  pool: PoolConfig,
  { secrets, ecs: { stack } }: Pick<Snapshot, 'secrets' | 'ecs'>,
  now: EpochMs,
): readonly Credential[] {
  const entries = secrets?.items ?? [];
  return secretsOf(pool)
    .flatMap((used) => {
      const entry = findSecret(entries, used, { pool: poolOfPart(pool.name), stack });
      return entry === undefined ? [] : (credentialOf(entry, used.kind) ?? []);
    })
    .filter(({ newFrom, knownFrom, keyId }) => (keyId === undefined ? newFrom : knownFrom) <= now)
    .toSorted(by(({ changedAt }) => -changedAt));
}

function credentialOf(entry: SecretEntry, kind: SecretKind): Credential | undefined {
  const { Name: secret, LastChangedDate: lastChangedAt } = entry;
  const keyId = kind === 'managed' ? secretTag(entry, KEY_ID_TAG) : undefined;
  const changedAt = changedAtOf(entry);
  // the last change of anything may be a tag, so it does not date a value
  if (lastChangedAt === undefined || (kind === 'managed' ? keyId : changedAt) === undefined) return undefined;
  return {
    ...{ kind, secret, keyId },
    changedAt: changedAt ?? lastChangedAt,
    previousAt: versionAt(entry, 'AWSPREVIOUS')?.CreatedDate,
    newFrom: newFromOf(entry, changedAt),
    // a list may be older than the newest tasks, so the tag tells nothing about tasks created later
    knownFrom: plusMs(lastChangedAt, SPREADS_WITHIN_MS),
  };
}

/** When the present value became current; undefined: the versions were not read, or have no dates. */
function changedAtOf(entry: SecretEntry): EpochMs | undefined {
  const storedAt = versionAt(entry, 'AWSCURRENT')?.CreatedDate;
  return storedAt === undefined ? undefined : (Math.max(storedAt, entry.CurrentSince ?? 0) as EpochMs);
}

/** No task is known to have an earlier value. */
const NEVER = 0 as EpochMs;

/**
 * A secret that has had only one value has no earlier one. Then only a task from before the secret
 * has another value, for example that of a secret of the same name that a person deleted.
 */
function newFromOf(entry: SecretEntry, changedAt: EpochMs | undefined): EpochMs {
  if (changedAt === undefined) return NEVER;
  const isOnly = versionAt(entry, 'AWSPREVIOUS') === undefined && entry.CurrentSince === undefined;
  return isOnly ? (entry.CreatedDate ?? NEVER) : plusMs(changedAt, SPREADS_WITHIN_MS);
}

function versionAt({ Versions }: SecretEntry, stage: string): SecretVersion | undefined {
  return Versions?.find(({ VersionStages }) => VersionStages.includes(stage));
}

type Tasks = { readonly tasks: readonly TaskView[]; readonly credentials: readonly Credential[] };

/** The latest change of which a task still has an earlier value; undefined: there is none. */
export function outdatedCredential(
  { credentials }: Pick<Tasks, 'credentials'>,
  task: TaskView,
): Credential | undefined {
  return credentials.find((credential) => isOutdated(credential, task));
}

function isOutdated({ newFrom, knownFrom, keyId }: Credential, { task, daemon }: TaskView): boolean {
  const usedId = keyId === undefined ? undefined : daemon?.key_id;
  if (usedId != null && usedId === keyId) return false;
  // the last change may be of a tag only, so it does not date a task whose key is not known
  const from = usedId == null ? newFrom : knownFrom;
  // a task without any time cannot be dated, and replacing it might never end
  return (task.createdAt ?? task.startedAt ?? from) < from;
}

/** Whether a daemon with the present value is connected. Other tags: a wrong key. */
export function isProven({ tasks }: Pick<Tasks, 'tasks'>, credential: Credential): boolean {
  return tasks.some(
    (task) =>
      (task.use === 'busy' || task.use === 'idle') && !task.hasOtherTags && !isOutdated(credential, task),
  );
}

/** Whether tasks have an earlier value, and no daemon has connected with the present one. */
export function isUntried(view: Tasks): boolean {
  return view.tasks.some((task) => {
    const credential = outdatedCredential(view, task);
    return credential !== undefined && !isProven(view, credential);
  });
}

/** coderd accepts a new one only after a restart: replaced tasks could not connect. */
export function unprovenPsk(view: Tasks): Credential | undefined {
  return view.credentials.find(
    (credential) =>
      credential.kind === 'psk' &&
      view.tasks.some((task) => isOutdated(credential, task)) &&
      !isProven(view, credential),
  );
}
