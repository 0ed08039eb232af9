/** Secrets Manager: named secrets with one current version (docs/aws.md §4). */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Random } from '../base/random.ts';
import type { Timeline } from '../base/timeline.ts';

export type StoredSecret = {
  readonly arn: string;
  readonly name: string;
  readonly value: string;
  readonly versionId: string;
  readonly createdAt: EpochMs;
};

const ARN_PREFIX = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:';
const SUFFIX_LENGTH = '-AbCdEf'.length;

export class SecretsModel {
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #secrets = new Map<string, StoredSecret>();
  readonly #denied = new Set<string>();

  constructor(options: { readonly timeline: Timeline; readonly random: Random }) {
    this.#timeline = options.timeline;
    this.#random = options.random;
  }

  /** Creates the secret, or gives it a new version. Returns its ARN. */
  put(name: string, value: string): string {
    const arn = this.#secrets.get(name)?.arn ?? `${ARN_PREFIX}${name}-${this.#random.hex(6)}`;
    const secret = { arn, name, value, versionId: this.#random.uuid(), createdAt: this.#timeline.now() };
    this.#secrets.set(name, secret);
    return arn;
  }

  /** Denies everyone the right to read the secret. */
  deny(name: string): void {
    this.#denied.add(name);
  }

  isDenied({ name }: StoredSecret): boolean {
    return this.#denied.has(name);
  }

  /** Finds a secret by name, by ARN, or by ARN without its random suffix. */
  find(id: string): StoredSecret | undefined {
    if (!id.startsWith(ARN_PREFIX)) return this.#secrets.get(id);
    const name = id.slice(ARN_PREFIX.length);
    const whole = this.#secrets.get(name.slice(0, -SUFFIX_LENGTH));
    return whole?.arn === id ? whole : this.#secrets.get(name);
  }
}
