/** The newest jobs of one organization. Limits their number, and that of each tag set. */
import type { EpochMs, JobId } from '../../decision/model/brands.ts';
import { compare } from '../../decision/model/collections.ts';
import type { Job } from '../../decision/model/snapshot.ts';
import { tagKey } from '../../decision/model/tags.ts';

type Limits = { readonly perTagSet: number; readonly inAll: number };

/** A job with its sort key. The order depends on `created_at` and `id` only, so it never changes. */
type Entry = {
  readonly id: JobId;
  readonly created_at: EpochMs;
  readonly tagKey: string;
  job: Job;
};

export class NewestJobs {
  readonly #limits: Limits;
  readonly #byId = new Map<JobId, Entry>();
  readonly #byTagSet = new Map<string, Entry[]>();
  readonly #all: Entry[] = [];
  #items: readonly Job[] = [];
  #isChanged = false;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get(id: JobId): Job | undefined {
    return this.#byId.get(id)?.job;
  }

  /** Adds a job, or replaces the job with this id. Its `created_at` and tags must be the same. */
  put(job: Job): void {
    const entry = this.#byId.get(job.id);
    if (entry === undefined) this.#add(job);
    else if (entry.job !== job) {
      entry.job = job;
      this.#isChanged = true;
    }
  }

  /** Drops the jobs that were created earlier or later. */
  keepCreated({ from, until }: { readonly from: number; readonly until: number }): void {
    for (let last = this.#all.at(-1); last !== undefined && last.created_at < from; last = this.#all.at(-1))
      this.#drop(last);
    for (let first = this.#all[0]; first !== undefined && first.created_at > until; first = this.#all[0])
      this.#drop(first);
  }

  /** Newest first, then by id. The same array as before, unless a job has changed. */
  items(): readonly Job[] {
    // This is not done when a job is added: the order of adding must not decide which jobs stay.
    for (const entry of this.#all.slice(this.#limits.inAll).reverse()) this.#drop(entry);
    if (this.#isChanged && !this.#isPublished()) this.#items = this.#all.map(({ job }) => job);
    this.#isChanged = false;
    return this.#items;
  }

  #add(job: Job): void {
    const { id, created_at } = job;
    const entry: Entry = { id, created_at, tagKey: tagKey(job.tags), job };
    const equals = this.#byTagSet.get(entry.tagKey) ?? [];
    const oldest = equals.length < this.#limits.perTagSet ? undefined : equals.at(-1);
    if (oldest !== undefined && newestFirst(oldest, entry) < 0) return;
    if (oldest !== undefined) this.#drop(oldest);
    this.#byTagSet.set(entry.tagKey, equals);
    this.#byId.set(id, entry);
    for (const list of [equals, this.#all]) list.splice(indexOf(list, entry), 0, entry);
    this.#isChanged = true;
  }

  #drop(entry: Entry): void {
    const equals = this.#byTagSet.get(entry.tagKey) ?? [];
    for (const list of [equals, this.#all]) list.splice(indexOf(list, entry), 1);
    if (equals.length === 0) this.#byTagSet.delete(entry.tagKey);
    this.#byId.delete(entry.id);
    this.#isChanged = true;
  }

  /** Whether the published array is still right: a job over the limit is added and dropped in every look. */
  #isPublished(): boolean {
    const items = this.#items;
    return items.length === this.#all.length && this.#all.every(({ job }, index) => job === items[index]);
  }
}

function newestFirst(a: Entry, b: Entry): number {
  return b.created_at - a.created_at || compare(a.id, b.id);
}

/** The index of the first entry that does not come before this one. */
function indexOf(list: readonly Entry[], entry: Entry): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const candidate = list[middle];
    if (candidate !== undefined && newestFirst(candidate, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
