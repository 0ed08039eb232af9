/** What a process remembers of its looks. If it is lost, findings come a look later, and refused requests sooner. */
import type { EpochMs, TaskArn } from '../decision/model/brands.ts';
import type { HeartbeatsSeen, Remembered } from '../decision/model/snapshot.ts';
import { MINUTE_MS } from '../decision/model/units.ts';

/** After a longer pause it is unknown whether a mismatch has lasted. */
const FORGOTTEN_MS = 3 * MINUTE_MS;
/** A refused request is made again after a minute, then after twice as long each time. */
const LONGEST_PAUSE_MS = 10 * MINUTE_MS;
/** A refusal that is older has no successor. */
const REFUSAL_KEPT_MS = 60 * MINUTE_MS;

type Refused = { readonly at: EpochMs; readonly pauseMs: number };

type Seen = {
  readonly now: EpochMs;
  readonly mismatches: readonly string[];
  /** @default none */
  readonly heartbeats?: readonly HeartbeatsSeen[];
  readonly refused: readonly { readonly task: TaskArn }[];
};

export class LookMemory {
  #lookedAt: EpochMs | undefined;
  /** When each mismatch of the last look was seen first. */
  #mismatches: ReadonlyMap<string, EpochMs> = new Map();
  #refused: ReadonlyMap<TaskArn, Refused> = new Map();
  #heartbeats: readonly HeartbeatsSeen[] = [];

  recall(now: EpochMs): Remembered {
    const isFresh = this.#lookedAt !== undefined && now - this.#lookedAt <= FORGOTTEN_MS;
    const pausing = [...this.#refused].filter(([, { at, pauseMs }]) => now - at < pauseMs);
    return {
      mismatches: isFresh ? Object.fromEntries(this.#mismatches) : {},
      refused: pausing.map(([task]) => task),
      heartbeats: this.#heartbeats,
    };
  }

  add({ now, mismatches, refused, heartbeats = [] }: Seen): void {
    const { mismatches: before } = this.recall(now);
    this.#lookedAt = now;
    this.#heartbeats = heartbeats;
    this.#mismatches = new Map(mismatches.map((key) => [key, before[key] ?? now]));
    const kept = [...this.#refused].filter(([, { at }]) => now - at < REFUSAL_KEPT_MS);
    const added = refused.map(({ task }): [TaskArn, Refused] => {
      const { pauseMs = MINUTE_MS / 2 } = this.#refused.get(task) ?? {};
      return [task, { at: now, pauseMs: Math.min(LONGEST_PAUSE_MS, 2 * pauseMs) }];
    });
    this.#refused = new Map([...kept, ...added]);
  }
}
