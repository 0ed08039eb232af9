/** Secrets Manager: secrets with versions, labels and tags (docs/internals/aws.md §4). */
import { AwsError, type Endless } from '../base/aws-service.ts';
import type { Random } from '../base/random.ts';
import type { Timeline } from '../base/timeline.ts';
import { CURRENT, PENDING, type SecretState, StoredSecret } from './secret.ts';

const ARN_PREFIX = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:';
const SUFFIX_LENGTH = '-AbCdEf'.length;

export class SecretsModel {
  /** How old a list of secrets is, in milliseconds (docs/internals/aws.md §4). */
  listLagMs = 0;
  /** What lists leave out: versions, or their dates and that of the last change. */
  hidden: 'nothing' | 'versions' | 'dates' = 'nothing';
  /** Operations whose list never ends. */
  readonly endlessLists = new Map<string, Endless>();
  /** Whether people may make secrets, but store no value. */
  refusesValues = false;
  readonly timeline: Timeline;
  readonly #random: Random;
  readonly #secrets = new Map<string, StoredSecret>();
  readonly #denied = new Set<string>();
  readonly #deniedOperations = new Set<string>();

  constructor(options: { readonly timeline: Timeline; readonly random: Random }) {
    this.timeline = options.timeline;
    this.#random = options.random;
  }

  /** Creates a secret without a value, as CloudFormation does. Returns its ARN. */
  create(name: string, tags: Readonly<Record<string, string>> = {}): string {
    const now = this.timeline.now();
    const secret = new StoredSecret({ arn: `${ARN_PREFIX}${name}-${this.#random.hex(6)}`, name, now });
    secret.tag(new Map(Object.entries(tags)), now);
    this.#secrets.set(name, secret);
    return secret.arn;
  }

  /** Creates the secret, or gives it a new current version. Returns its ARN. */
  put(name: string, value: string): string {
    const arn = this.#secrets.get(name)?.arn ?? this.create(name);
    const version = { id: this.#random.uuid(), value, stages: [CURRENT], now: this.timeline.now() };
    this.#secrets.get(name)?.put(version);
    return arn;
  }

  /** RotateSecret up to the first step. Returns the token, which is the id of the announced version. */
  announceRotation(secret: StoredSecret, token: string = this.#random.uuid()): string {
    const pending = secret.withStage(PENDING);
    if (pending !== undefined && !pending.stages.has(CURRENT) && pending.id !== token)
      throw new AwsError(
        'InvalidRequestException',
        "A previous rotation isn't complete. That rotation will be reattempted.",
      );
    secret.put({ id: token, value: undefined, stages: [PENDING], now: this.timeline.now() });
    return token;
  }

  /** As if the secret had never existed. */
  forget(name: string): void {
    this.#secrets.delete(name);
  }

  delete(name: string): void {
    const secret = this.#secrets.get(name);
    if (secret !== undefined) secret.isDeleted = true;
  }

  deny(name: string): void {
    this.#denied.add(name);
  }

  allow(name: string): void {
    this.#denied.delete(name);
  }

  isDenied({ name }: StoredSecret): boolean {
    return this.#denied.has(name);
  }

  /** Denies the autoscaler's role an operation, as the stack of an earlier version does. */
  denyOperation(operation: string): void {
    this.#deniedOperations.add(operation);
  }

  allowOperation(operation: string): void {
    this.#deniedOperations.delete(operation);
  }

  isOperationDenied(operation: string): boolean {
    return this.#deniedOperations.has(operation);
  }

  all(): readonly StoredSecret[] {
    return [...this.#secrets.values()];
  }

  /** The secrets as a list shows them: `listLagMs` ago. */
  listed(): readonly SecretState[] {
    const at = this.timeline.now() - this.listLagMs;
    return this.all().flatMap((secret) => (secret.isDeleted ? [] : (secret.asOf(at) ?? [])));
  }

  /** Finds a secret by name, by ARN, or by ARN without its random suffix. */
  find(id: string): StoredSecret | undefined {
    if (!id.startsWith(ARN_PREFIX)) return this.#secrets.get(id);
    const name = id.slice(ARN_PREFIX.length);
    const whole = this.#secrets.get(name.slice(0, -SUFFIX_LENGTH));
    return whole?.arn === id ? whole : this.#secrets.get(name);
  }
}

export const ROTATION_STEPS = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'] as const;

type RotationRequest = {
  readonly Step: (typeof ROTATION_STEPS)[number];
  readonly SecretId: string;
  readonly ClientRequestToken: string;
};

/** Runs a rotation. Returns its token. Throws the error of the last attempt. */
export async function runRotation(
  model: SecretsModel,
  secret: StoredSecret,
  given: {
    readonly invoke: (request: RotationRequest) => Promise<unknown>;
    /** @default 1 */
    readonly attempts?: number;
    /** @default a new one */
    readonly token?: string;
  },
): Promise<string> {
  const { invoke, attempts = 1 } = given;
  const token = model.announceRotation(secret, given.token);
  for (let attempt = 1; ; attempt += 1)
    try {
      for (const Step of ROTATION_STEPS)
        await invoke({ Step, SecretId: secret.arn, ClientRequestToken: token });
      return token;
    } catch (cause) {
      if (attempt >= attempts) throw cause;
    }
}

/**
 * When a schedule is stored without an immediate rotation: testSecret alone, with a version that is removed
 * afterwards. AWS does not say whether it has a value; `copies` gives it the current one.
 */
export async function testRotation(
  model: SecretsModel,
  secret: StoredSecret,
  given: { readonly invoke: (request: RotationRequest) => Promise<unknown>; readonly copies: boolean },
): Promise<void> {
  const token = model.announceRotation(secret);
  const now = model.timeline.now();
  if (given.copies) secret.put({ id: token, value: secret.value, stages: [PENDING], now });
  try {
    await given.invoke({ Step: 'testSecret', SecretId: secret.arn, ClientRequestToken: token });
  } finally {
    secret.move(PENDING, { from: secret.withStage(PENDING)?.id, now });
  }
}
