/**
 * A secret's versions, staging labels and tags (docs/internals/aws.md §4). A label belongs to at most one version.
 * Versions without a label are deprecated: they are listed only on request.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { AwsError } from '../base/aws-service.ts';

export const [CURRENT, PENDING] = ['AWSCURRENT', 'AWSPENDING'] as const;
const PREVIOUS = 'AWSPREVIOUS';

export type SecretVersion = {
  readonly id: string;
  readonly createdAt: EpochMs;
  /** Undefined for a version that a rotation has announced and not stored yet. */
  readonly value: string | undefined;
  readonly stages: ReadonlySet<string>;
};

type Version = { -readonly [Key in keyof Omit<SecretVersion, 'stages'>]: SecretVersion[Key] } & {
  readonly stages: Set<string>;
};

export type SecretState = Pick<StoredSecret, 'arn' | 'name' | 'createdAt' | 'changedAt' | 'rotatedAt'> & {
  readonly tags: ReadonlyMap<string, string>;
  readonly versions: readonly SecretVersion[];
};

type NewVersion = {
  readonly id: string;
  readonly value: string | undefined;
  readonly stages: readonly string[];
  readonly now: EpochMs;
};

/** The record is live: it changes with the secret. */
export class StoredSecret {
  readonly arn: string;
  readonly name: string;
  readonly createdAt: EpochMs;
  readonly tags = new Map<string, string>();
  isDeleted = false;
  /** The ARN of its KMS key; undefined: AWS's own. */
  kmsKey: string | undefined;
  /** The end of the last rotation; undefined: none. */
  rotatedAt: EpochMs | undefined;
  #changedAt: EpochMs;
  readonly #versions = new Map<string, Version>();
  /** Its state after each change, in order of time. */
  readonly #states: SecretState[] = [];

  constructor(given: { readonly arn: string; readonly name: string; readonly now: EpochMs }) {
    this.arn = given.arn;
    this.name = given.name;
    this.createdAt = given.now;
    this.#changedAt = given.now;
    this.#changed(given.now);
  }

  /** Its state at an earlier time, as a list that is old shows it; undefined before its creation. */
  asOf(time: number): SecretState | undefined {
    return this.#states.findLast(({ changedAt }) => changedAt <= time);
  }

  #changed(now: EpochMs): void {
    this.#changedAt = now;
    const { arn, name, createdAt, rotatedAt } = this;
    this.#states.push({
      arn,
      name,
      createdAt,
      rotatedAt,
      changedAt: now,
      tags: new Map(this.tags),
      versions: this.versions.map((version) => ({ ...version, stages: new Set(version.stages) })),
    });
  }

  get changedAt(): EpochMs {
    return this.#changedAt;
  }

  /** Oldest first, deprecated ones too. */
  get versions(): readonly SecretVersion[] {
    return [...this.#versions.values()];
  }

  /** The current value; undefined for a secret that never had one. */
  get value(): string | undefined {
    return this.withStage(CURRENT)?.value;
  }

  version(id: string): SecretVersion | undefined {
    return this.#versions.get(id);
  }

  withStage(stage: string): SecretVersion | undefined {
    return this.versions.find(({ stages }) => stages.has(stage));
  }

  /** PutSecretValue. The same value again changes nothing. */
  put({ id, value, stages, now }: NewVersion): SecretVersion {
    const known = this.#versions.get(id);
    if (known !== undefined && known.value !== undefined && known.value !== value)
      throw new AwsError(
        'ResourceExistsException',
        "You can't use this ClientRequestToken because that version already exists with a different value.",
      );
    if (known?.value !== undefined) return known;
    const version = known ?? { id, value, createdAt: now, stages: new Set<string>() };
    version.value = value;
    this.#versions.set(id, version);
    // The first version becomes the current one, whatever its labels.
    const isFirst = value !== undefined && this.withStage(CURRENT) === undefined;
    for (const stage of isFirst ? [CURRENT, ...stages] : stages) this.#attach(stage, version);
    this.#changed(now);
    return version;
  }

  move(
    stage: string,
    {
      to,
      from,
      now,
    }: { readonly to?: string | undefined; readonly from?: string | undefined; readonly now: EpochMs },
  ): void {
    const holder = this.withStage(stage);
    const target = to === undefined ? undefined : this.#versions.get(to);
    if (to !== undefined && target === undefined)
      throw new AwsError(
        'ResourceNotFoundException',
        "Secrets Manager can't find the specified secret version.",
      );
    if (holder !== undefined && holder.id !== to && holder.id !== from)
      throw new AwsError(
        'InvalidParameterException',
        `The parameter RemoveFromVersionId can't be empty. Staging label ${stage} is currently attached to version ${holder.id}, so you must explicitly reference that version in RemoveFromVersionId.`,
      );
    if (target === undefined) this.#detach(stage);
    else this.#attach(stage, target);
    this.#changed(now);
  }

  tag(tags: ReadonlyMap<string, string>, now: EpochMs): void {
    for (const [key, value] of tags) this.tags.set(key, value);
    this.#changed(now);
  }

  /** The end of a rotation, whether or not its function has stored a version. */
  rotated(now: EpochMs): void {
    this.rotatedAt = now;
    this.#changed(now);
  }

  #attach(stage: string, version: Version): void {
    const holder = [...this.#versions.values()].find(({ stages }) => stages.has(stage));
    if (holder === version) return;
    this.#detach(stage);
    if (stage === CURRENT) {
      version.stages.delete(PREVIOUS);
      if (holder !== undefined) this.#attach(PREVIOUS, holder);
    }
    version.stages.add(stage);
  }

  #detach(stage: string): void {
    for (const { stages } of this.#versions.values()) stages.delete(stage);
  }
}
