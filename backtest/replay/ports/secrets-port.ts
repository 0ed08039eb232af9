/**
 * The metadata of secrets as a look sees it, made directly from the simulator's model. It equals the
 * answers of `simulator/secrets/api.ts` as the autoscaler's adapter reads them.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { findSecret, type SecretEntry } from '../../../lambda/decision/model/secrets.ts';
import type { Reading } from '../../../lambda/decision/model/snapshot.ts';
import type { SecretList, WantedSecret } from '../../../lambda/look/ports.ts';
import type { SecretsModel } from '../../../simulator/secrets/model.ts';
import type { SecretState } from '../../../simulator/secrets/secret.ts';

export class SecretsPort implements SecretList {
  readonly #model: SecretsModel;

  constructor(model: SecretsModel) {
    this.#model = model;
  }

  async entries(wanted: readonly WantedSecret[], now: EpochMs): Promise<Reading<SecretEntry>> {
    if (this.#model.isOperationDenied('ListSecrets'))
      return { status: 'forbidden', error: 'listing the secrets of the pools: not authorized', items: [] };
    const listed = this.#model.listed().map(entryOf);
    const items = [...new Set(wanted.flatMap((it) => findSecret(listed, it, it) ?? []))];
    return { status: 'ok', takenAt: now, items };
  }
}

const known = new WeakMap<SecretState, SecretEntry>();

/** A state is immutable. */
function entryOf(secret: SecretState): SecretEntry {
  const { arn, name, tags, createdAt, changedAt, versions } = secret;
  const entry = known.get(secret) ?? {
    ARN: arn,
    Name: name,
    CreatedDate: createdAt,
    LastChangedDate: changedAt,
    Tags: [...tags].map(([Key, Value]) => ({ Key, Value })),
    Versions: versions
      .filter(({ stages }) => stages.size > 0)
      .map(({ id, stages, createdAt: storedAt }) => ({
        VersionId: id,
        VersionStages: [...stages],
        CreatedDate: storedAt,
      })),
  };
  known.set(secret, entry);
  return entry;
}
