/** Finds the key that tasks of a pool get now: by the secret's tag, or by what coderd says to the key. */
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { KEY_ID_TAG, POOL_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { OwnDeployment } from '../../lambda/keys/model/key-names.ts';
import type { KeyFacts, SecretInfo } from '../../lambda/keys/model/ports.ts';
import type { OrganizationKeys, Survey } from './survey.ts';

/** A survey, with all keys of all organizations. */
export type Known = {
  readonly survey: Survey;
  readonly keys: readonly (KeyFacts & { readonly in: OrganizationKeys })[];
  readonly deployment: OwnDeployment | undefined;
};

export function secretOfPool({ name, auth }: PoolConfig, { survey }: Known): SecretInfo | undefined {
  if (auth.kind !== 'managed') return undefined;
  return survey.secrets?.find(({ tags }) => tags[POOL_TAG] === name);
}

export type Current = {
  readonly id?: string | undefined;
  /** Whether every other key of the pool's tasks is an earlier one. */
  readonly isKnown: boolean;
  readonly problems: readonly string[];
};

export function currentKey(pool: PoolConfig, secret: SecretInfo | undefined, known: Known): Current {
  if (pool.auth.kind === 'managed') return managedKey(pool, secret, known);
  if (pool.auth.kind !== 'key') return { isKnown: true, problems: [] };
  const reading = known.survey.tried.get(pool.name);
  if (reading === undefined || 'needs' in reading) return { isKnown: false, problems: [] };
  if (!('key' in reading)) return { isKnown: false, problems: [reading.says] };
  const { name, organization } = reading.key;
  const id = reading.key.id ?? known.keys.find((key) => isNamed(key, { name, organization }))?.id;
  return { id, isKnown: true, problems: missing(pool, id, known) };
}

function isNamed(key: KeyFacts, { name, organization }: Pick<KeyFacts, 'name' | 'organization'>): boolean {
  return key.organization === organization && key.name === name;
}

function managedKey(pool: PoolConfig, secret: SecretInfo | undefined, known: Known): Current {
  if (secret === undefined) {
    const isRead = known.survey.secrets !== undefined;
    const problem = `no secret of stack "${known.survey.stack}" is for this pool. Deploy the configuration`;
    return { isKnown: false, problems: isRead ? [problem] : [] };
  }
  const id = secret.tags[KEY_ID_TAG];
  if (id !== undefined) return { id, isKnown: true, problems: missing(pool, id, known) };
  const problem =
    'the key function has not made its key yet. If no deployment is running, run autoscaler keys check';
  return { isKnown: false, problems: [problem] };
}

/** Only lists that were read in full tell that a key is gone. */
function missing({ auth }: PoolConfig, id: string | undefined, { survey, keys }: Known): readonly string[] {
  const { organizations } = survey;
  if (keys.some((key) => key.id === id)) return [];
  const shown = id ?? '(unknown)';
  const isWhole = organizations.length > 0 && organizations.every((each) => each.keys !== undefined);
  if (!isWhole) return [`its current key has the id ${shown}, and not all lists of keys could be read`];
  const next =
    auth.kind === 'managed'
      ? 'The key function makes another one within 15 minutes'
      : 'Run autoscaler keys check to see what to do';
  return [
    `coderd lists no key with the id ${shown}: somebody has deleted it. New tasks cannot connect. ${next}`,
  ];
}
