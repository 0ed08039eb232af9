import type { EpochMs, OrganizationId } from '../../lambda/core/brands.ts';
import { type TagSet, tagKey } from '../../lambda/core/tags.ts';
import type { Transition } from './jobs.ts';

/** How often the executor looks: CODER_AUTOBUILD_POLL_INTERVAL (contract §10). */
export const LIFECYCLE_EVERY_MS = 60_000;

/** A build that coderd is to insert by itself: autostart, autostop, dormancy, deletion. */
export type ScheduledBuild = {
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  readonly at: EpochMs;
  readonly durationMs: number;
  readonly transition: Transition;
};

type DueGroup = {
  readonly organizationId: OrganizationId;
  readonly tags: TagSet;
  readonly builds: ScheduledBuild[];
};

/**
 * The lifecycle executor (contract §10): once a minute it inserts the builds that are due, but only those for whose
 * tags a daemon was seen just now; the others stay eligible and are tried again a minute later.
 */
export class LifecycleExecutor {
  readonly #start: EpochMs;
  readonly #isGateOpen: (group: {
    readonly organizationId: OrganizationId;
    readonly tags: TagSet;
  }) => boolean;
  readonly #insert: (build: ScheduledBuild) => void;
  /** Not due yet, by the number of the tick that finds them due. */
  readonly #later = new Map<number, ScheduledBuild[]>();
  readonly #due = new Map<string, DueGroup>();
  #ticks = 0;

  constructor(given: {
    readonly start: EpochMs;
    readonly isGateOpen: (group: {
      readonly organizationId: OrganizationId;
      readonly tags: TagSet;
    }) => boolean;
    readonly insert: (build: ScheduledBuild) => void;
  }) {
    this.#start = given.start;
    this.#isGateOpen = given.isGateOpen;
    this.#insert = given.insert;
  }

  schedule(build: ScheduledBuild): void {
    const tick = Math.max(this.#ticks + 1, Math.ceil((build.at - this.#start) / LIFECYCLE_EVERY_MS));
    const sameTick = this.#later.get(tick);
    if (sameTick === undefined) this.#later.set(tick, [build]);
    else sameTick.push(build);
  }

  /** To be called every minute, the first time a minute after the start. */
  tick(): void {
    this.#ticks++;
    for (const build of this.#later.get(this.#ticks) ?? []) this.#groupOf(build).builds.push(build);
    this.#later.delete(this.#ticks);
    for (const [key, group] of this.#due) {
      if (!this.#isGateOpen(group)) continue;
      this.#due.delete(key);
      for (const build of group.builds) this.#insert(build);
    }
  }

  #groupOf(build: ScheduledBuild): DueGroup {
    const key = `${build.organizationId} ${tagKey(build.tags)}`;
    const group = this.#due.get(key) ?? {
      organizationId: build.organizationId,
      tags: build.tags,
      builds: [],
    };
    this.#due.set(key, group);
    return group;
  }
}
