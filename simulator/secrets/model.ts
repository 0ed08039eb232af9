/** Secrets Manager: named secrets with versions, and their metadata (docs/aws.md §4). */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Random } from '../base/random.ts';
import { SimulatorError } from '../base/simulator-error.ts';
import type { Timeline } from '../base/timeline.ts';

export type StoredVersion = {
  readonly id: string;
  readonly value: string;
  readonly createdAt: EpochMs;
  /** Staging labels; a version without one is deprecated. */
  readonly stages: readonly string[];
};

export type StoredSecret = {
  readonly arn: string;
  readonly name: string;
  /** Value, id and creation of the current version. */
  readonly value: string;
  readonly versionId: string;
  readonly createdAt: EpochMs;
  /** The last change of anything, tags included. */
  readonly changedAt: EpochMs;
  readonly tags: Readonly<Record<string, string>>;
  /** In order of creation. */
  readonly versions: readonly StoredVersion[];
};

export const CURRENT = 'AWSCURRENT';
export const PREVIOUS = 'AWSPREVIOUS';

const ARN_PREFIX = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:';
const SUFFIX_LENGTH = '-AbCdEf'.length;

export class SecretsModel {
  /** How old a list of secrets is, in milliseconds. */
  listLagMs = 0;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #secrets = new Map<string, StoredSecret>();
  /** Every state of each secret, in order of time. */
  readonly #states = new Map<string, StoredSecret[]>();
  readonly #denied = new Set<string>();
  readonly #deniedOperations = new Set<string>();

  constructor(options: { readonly timeline: Timeline; readonly random: Random }) {
    this.#timeline = options.timeline;
    this.#random = options.random;
  }

  /** Creates the secret, or gives it a new version. Returns its ARN. */
  put(name: string, value: string): string {
    const found = this.#secrets.get(name);
    const { arn = `${ARN_PREFIX}${name}-${this.#random.hex(6)}`, tags = {}, versions = [] } = found ?? {};
    const version = { id: this.#random.uuid(), value, createdAt: this.#timeline.now(), stages: [] };
    this.#store({ arn, name, tags, versions: currentAt([...versions, version], version.id) });
    return arn;
  }

  /** Makes an earlier version current again, as a person does with UpdateSecretVersionStage. */
  makeCurrent(name: string, versionId: string): void {
    const { arn, tags, versions } = this.#existing(name);
    this.#store({ arn, name, tags, versions: currentAt(versions, versionId) });
  }

  /** Adds tags, or changes their values. */
  tag(name: string, tags: Readonly<Record<string, string>>): void {
    const { arn, tags: before, versions } = this.#existing(name);
    this.#store({ arn, name, tags: { ...before, ...tags }, versions });
  }

  /** Denies everyone the right to read the secret. */
  deny(name: string): void {
    this.#denied.add(name);
  }

  isDenied({ name }: StoredSecret): boolean {
    return this.#denied.has(name);
  }

  /** Denies the autoscaler's role an operation, as an older stack does. */
  denyOperation(operation: string): void {
    this.#deniedOperations.add(operation);
  }

  allowOperation(operation: string): void {
    this.#deniedOperations.delete(operation);
  }

  isOperationDenied(operation: string): boolean {
    return this.#deniedOperations.has(operation);
  }

  /** Finds a secret by name, by ARN, or by ARN without its random suffix. */
  find(id: string): StoredSecret | undefined {
    if (!id.startsWith(ARN_PREFIX)) return this.#secrets.get(id);
    const name = id.slice(ARN_PREFIX.length);
    const whole = this.#secrets.get(name.slice(0, -SUFFIX_LENGTH));
    return whole?.arn === id ? whole : this.#secrets.get(name);
  }

  /** All secrets as a list shows them: `listLagMs` ago, in order of creation. */
  listed(): readonly StoredSecret[] {
    const at = this.#timeline.now() - this.listLagMs;
    return [...this.#states.values()].flatMap(
      (states) => states.findLast(({ changedAt }) => changedAt <= at) ?? [],
    );
  }

  #existing(name: string): StoredSecret {
    const found = this.#secrets.get(name);
    if (found === undefined) throw new SimulatorError(`finding secret "${name}": there is none`);
    return found;
  }

  #store(state: Pick<StoredSecret, 'arn' | 'name' | 'tags' | 'versions'>): void {
    const { name, versions } = state;
    const current = versions.find(({ stages }) => stages.includes(CURRENT));
    if (current === undefined) throw new SimulatorError(`storing secret "${name}": no version is current`);
    const { value, id: versionId, createdAt } = current;
    const secret = { ...state, value, versionId, createdAt, changedAt: this.#timeline.now() };
    this.#secrets.set(name, secret);
    this.#states.set(name, [...(this.#states.get(name) ?? []), secret]);
  }
}

/** Moves AWSCURRENT to a version. The version that had it gets AWSPREVIOUS. */
function currentAt(versions: readonly StoredVersion[], id: string): readonly StoredVersion[] {
  return versions.map((version) => {
    if (version.id === id) return { ...version, stages: [CURRENT] };
    const wasCurrent = version.stages.includes(CURRENT);
    return { ...version, stages: wasCurrent ? [PREVIOUS] : [] };
  });
}
