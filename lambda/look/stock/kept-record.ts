/**
 * Reads the record when the process starts, and again where other processes of the function look too, and
 * writes it from time to time. The record is a cache:
 * a lost, old or wrong one changes how fast a process learns. No failure of the store fails or
 * delays a look.
 */
import type { EpochMs, OrganizationId } from '../../decision/model/brands.ts';
import { messageOf } from '../../decision/model/message-of.ts';
import type { StockChoice } from '../../decision/model/snapshot.ts';
import type { TagSet } from '../../decision/model/tags.ts';
import { HOUR_MS, MINUTE_MS } from '../../decision/model/units.ts';
import type { ReplayedBuild } from '../../decision/stock/replay.ts';

/** What a new process of the function needs, so that it does not have to learn again. */
export type StockRecord = {
  readonly organizations: readonly OrganizationRecord[];
  readonly choices: readonly StockChoice[];
};

type OrganizationRecord = {
  readonly id: OrganizationId;
  /** The builds up to this time are in the record, in milliseconds by coderd's clock. */
  readonly upTo: number;
  /** The builds of each tag set, the oldest first. */
  readonly logs: readonly { readonly tags: TagSet; readonly builds: readonly ReplayedBuild[] }[];
};

/** Builds of one tag set that a process knows, and builds of a record: its text could claim millions. */
export const MOST_BUILDS = 5_000;

/** The organizations of a record with its newest builds, and so many `ofEach` tag set. */
export function withNewestBuilds({ organizations }: StockRecord, ofEach = 0): StockRecord['organizations'] {
  const times = organizations.flatMap(({ logs }) => logs.flatMap(({ builds }) => builds.map(({ at }) => at)));
  const after = new Float64Array(times).sort().at(-MOST_BUILDS - 1);
  if (after === undefined) return organizations;
  const newer = (builds: readonly ReplayedBuild[]) =>
    builds.filter(({ at }, index) => at > after || index >= builds.length - ofEach);
  return organizations.map((organization) => ({
    ...organization,
    logs: organization.logs.map(({ tags, builds }) => ({ tags, builds: newer(builds) })),
  }));
}

/** Keeps one record. Both throw if the store does not answer within about two seconds. */
export interface RecordStore {
  /** Undefined: the store has no record that can be used. Throws also if a newer version wrote it. */
  read(): Promise<StockRecord | undefined>;
  write(record: StockRecord): Promise<void>;
}

/** A look waits so long for the record. Later it comes into effect at a later look. */
const MOST_WAIT_MS = 1_000;
const WRITE_EVERY_MS = MINUTE_MS;
/** So far may two processes that look in turn learn apart. Each then goes on from what the other has written. */
const READ_EVERY_MS = 5 * MINUTE_MS;
/** After a failure, also for lack of a route to the store, no request is sent for so long. */
const REST_MS = HOUR_MS;

type KeptRecordOptions = {
  readonly learner: {
    /** Undefined: nothing is worth keeping. */
    save(): StockRecord | undefined;
    load(record: StockRecord, now: EpochMs): void;
  };
  readonly store: RecordStore;
  readonly clock: { now(): EpochMs; sleep(ms: number): Promise<void> };
  /** Called at most once an hour. */
  readonly onFailure: (message: string) => void;
};

export class KeptRecord {
  readonly #options: KeptRecordOptions;
  #reading: Promise<void> | undefined;
  /** Read, and not yet given to the learner. */
  #found: StockRecord | undefined;
  #isRead = false;
  #readAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #written = '';

  constructor(options: KeptRecordOptions) {
    this.#options = options;
  }

  /**
   * Reads the record at the first call, and each five minutes if another process may have looked and written.
   * Waits for it, but not twice for one answer. Does not throw.
   */
  async ready(isSole = true): Promise<void> {
    const { clock } = this.#options;
    const isKnown = this.#isRead && (isSole || isWithin(READ_EVERY_MS, this.#readAt, clock.now()));
    if (isKnown || this.#isResting() || this.#reading !== undefined) return;
    const hasFailed = this.#failedAt !== Number.NEGATIVE_INFINITY;
    this.#reading = this.#read();
    if (!hasFailed) await Promise.race([this.#reading, clock.sleep(MOST_WAIT_MS)]);
  }

  /** Whether a record may still come into effect. After a failure nothing is expected. */
  get isAwaited(): boolean {
    const hasAnswered = this.#isRead || this.#failedAt !== Number.NEGATIVE_INFINITY;
    return !hasAnswered || this.#reading !== undefined || this.#found !== undefined;
  }

  /** Gives the learner what has been read. `now`: coderd's clock. */
  restore(now: EpochMs): void {
    if (this.#found !== undefined) this.#options.learner.load(this.#found, now);
    this.#found = undefined;
  }

  /**
   * Writes the record if it has changed, at most once a minute. Never before it has read: a process
   * that knows little must not replace what others learned. Does not throw.
   */
  async save(): Promise<void> {
    const { learner, store, clock } = this.#options;
    const isMissing = !this.#isRead || this.#found !== undefined;
    if (isMissing || this.#isResting() || isWithin(WRITE_EVERY_MS, this.#writtenAt, clock.now())) return;
    const record = learner.save();
    if (record === undefined) return;
    const text = whatMatters(record);
    if (text === this.#written) return;
    this.#writtenAt = clock.now();
    await store.write(record).then(
      () => {
        this.#written = text;
      },
      (cause: unknown) => this.#fail(cause),
    );
  }

  async #read(): Promise<void> {
    const { store } = this.#options;
    try {
      this.#found = await store.read();
      this.#isRead = true;
      this.#readAt = this.#options.clock.now();
      // a process may live for less than the time between two writes
      if (this.#found !== undefined) this.#written = whatMatters(this.#found);
    } catch (cause) {
      this.#fail(cause);
    }
    this.#reading = undefined;
  }

  #fail(cause: unknown): void {
    this.#failedAt = this.#options.clock.now();
    this.#options.onFailure(messageOf(cause));
  }

  #isResting(): boolean {
    return isWithin(REST_MS, this.#failedAt, this.#options.clock.now());
  }
}

/** A record without news is written again after so long: it has when the pools of each choice were seen. */
const SEEN_MS = 6 * HOUR_MS;

/** The newest builds and the rules: what they cost changes with each half hour, and `upTo` although no build comes. */
function whatMatters({ organizations, choices }: StockRecord): string {
  const rules = choices.map(({ organizationId, pools, rule, seenAt = 0 }) => {
    return { organizationId, pools, rule, seen: Math.floor(seenAt / SEEN_MS) };
  });
  const newest = organizations.map(({ id, logs }) => [
    id,
    ...logs.map(({ tags, builds }) => [tags, builds.at(-1)]),
  ]);
  return JSON.stringify([newest, rules]);
}

/** Also after the clock has stepped back. */
function isWithin(ms: number, since: number, now: number): boolean {
  return Math.abs(now - since) < ms;
}
