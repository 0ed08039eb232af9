/**
 * What a process remembers of its looks. The function is several processes: this memory may be lost, and it may
 * be minutes older than the last look of another process. If it is lost, findings come a look later, and refused
 * requests sooner.
 */
import type { EpochMs, TaskArn } from '../decision/model/brands.ts';
import { ownValue } from '../decision/model/collections.ts';
import type { HeartbeatsSeen, PoolMemory, Remembered } from '../decision/model/snapshot.ts';
import { MINUTE_MS } from '../decision/model/units.ts';
import { DesiredCounts } from './desired-counts.ts';
import type { ProcessMemory, SeenByLook } from './ports.ts';

/** After a longer pause it is unknown whether a mismatch has lasted. */
const FORGOTTEN_MS = 3 * MINUTE_MS;
/** A refused request is made again after a minute, then after twice as long each time. */
const LONGEST_PAUSE_MS = 10 * MINUTE_MS;
/** A refusal that is older has no successor. */
const REFUSAL_KEPT_MS = 60 * MINUTE_MS;

type Refused = { readonly at: EpochMs; readonly pauseMs: number };

/** A schedule that comes later than this may have started another process in between. */
const LATE_MS = MINUTE_MS / 2;

export class LookMemory implements ProcessMemory {
  readonly counts = new DesiredCounts();
  /** Whether no other process can have looked since the last look of this one. */
  #isSole = false;
  /** When the schedule starts the next look, if the last one of this process needed no further one. */
  #restedUntil: EpochMs | undefined;
  #lookedAt: EpochMs | undefined;
  /** When each mismatch of the last look was seen first. */
  #mismatches: ReadonlyMap<string, EpochMs> = new Map();
  #refused: ReadonlyMap<TaskArn, Refused> = new Map();
  #pools: readonly PoolMemory[] = [];
  #heartbeats: readonly HeartbeatsSeen[] = [];

  get isSole(): boolean {
    return this.#isSole;
  }

  wake({ now, isOwn }: { readonly now: EpochMs; readonly isOwn: boolean | undefined }): void {
    const isNext = this.#restedUntil !== undefined && now <= this.#restedUntil + LATE_MS;
    this.#isSole = isOwn ?? isNext;
    this.#restedUntil = undefined;
  }

  rest(until: EpochMs): void {
    this.#restedUntil = until;
  }

  recall(now: EpochMs): Remembered {
    const isFresh = this.#lookedAt !== undefined && now - this.#lookedAt <= FORGOTTEN_MS;
    const pausing = [...this.#refused].filter(([, { at, pauseMs }]) => now - at < pauseMs);
    return {
      mismatches: isFresh ? Object.fromEntries(this.#mismatches) : {},
      refused: pausing.map(([task]) => task),
      pools: this.#pools,
      heartbeats: this.#heartbeats,
    };
  }

  add({ now, mismatches, refused, pools, heartbeats = [] }: SeenByLook): void {
    const { mismatches: before } = this.recall(now);
    this.#lookedAt = now;
    this.#isSole = true;
    this.#pools = pools;
    this.#heartbeats = heartbeats;
    this.#mismatches = new Map(mismatches.map((key) => [key, ownValue(before, key) ?? now]));
    const kept = [...this.#refused].filter(([, { at }]) => now - at < REFUSAL_KEPT_MS);
    const added = refused.map(({ task }): [TaskArn, Refused] => {
      const { pauseMs = MINUTE_MS / 2 } = this.#refused.get(task) ?? {};
      return [task, { at: now, pauseMs: Math.min(LONGEST_PAUSE_MS, 2 * pauseMs) }];
    });
    this.#refused = new Map([...kept, ...added]);
  }
}
