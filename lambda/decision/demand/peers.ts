/**
 * Peers: other stacks of the same coderd whose pools run the same jobs. All jobs of one tag set that are
 * submitted within half an hour belong to one of the stacks, by a hash that all of them compute alike, so
 * they need no message (docs/adr/0048). A stack leaves the jobs of its peers to them for a grace, in which
 * a peer that works has a daemon.
 */
import { type EpochMs, type OrganizationId, plusMs } from '../model/brands.ts';
import type { Job } from '../model/snapshot.ts';
import { covers, normalizeTags, tagKey } from '../model/tags.ts';
import { MINUTE_MS } from '../model/units.ts';
import type { PoolView } from '../supply/supply.ts';

/** The stack that a job is left to, and when this stack launches for the job all the same. */
export type Left = { readonly peer: string; readonly until: EpochMs };

/**
 * A stack does not see the tasks that start in another one. So jobs that follow each other should belong to
 * one stack: then its spare starting tasks count for them.
 */
const TURN_MS = 30 * MINUTE_MS;
/** coderd fails a job after 30 minutes: a daemon of this stack has to come before. */
const LONGEST_GRACE_MS = 10 * MINUTE_MS;

/** Makes a function that tells to which peer a pending job is left; undefined: it is this stack's. */
export function leftToPeers(supply: readonly PoolView[], now: EpochMs) {
  const shared = supply.filter(({ pool }) => pool.peers !== undefined);
  const known = new Map<string, Sharing>();
  return (job: Job, organizationId: OrganizationId): Left | undefined => {
    if (shared.length === 0) return undefined;
    const key = `${organizationId} ${tagKey(job.tags)}`;
    const sharing = known.get(key) ?? sharingOf(job, shared.filter(isOf(organizationId)));
    known.set(key, sharing);
    const turn = Math.floor(job.created_at / TURN_MS);
    const peer = ownerOf(`${key} ${turn}`, sharing.stacks);
    const until = plusMs(job.created_at, sharing.graceMs);
    return peer === undefined || sharing.own.has(peer) || until <= now ? undefined : { peer, until };
  };
}

/** The stacks that can run the jobs of one tag set, and the grace. */
type Sharing = {
  readonly stacks: readonly string[];
  /** The names of this stack. */
  readonly own: ReadonlySet<string>;
  readonly graceMs: number;
};

const isOf =
  (organizationId: OrganizationId) =>
  ({ organization }: PoolView): boolean =>
    organization?.id === organizationId;

function sharingOf(job: Job, pools: readonly PoolView[]): Sharing {
  const tags = normalizeTags(job.tags);
  const fitting = pools.filter((view) => covers(view.tags, tags));
  const peers = fitting.flatMap(({ pool }) => pool.peers ?? []);
  // a peer looks within a minute, and starts like the pools of this stack
  const startMs = Math.max(0, ...fitting.map(({ startTime }) => startTime.p95Ms));
  return {
    stacks: [...new Set(peers.flatMap(({ self, others }) => [self, ...others]))],
    own: new Set(peers.map(({ self }) => self)),
    graceMs: Math.min(LONGEST_GRACE_MS, MINUTE_MS + 2 * startMs),
  };
}

/** Rendezvous hashing: the stack with the highest hash. The order of the names does not matter. */
export function ownerOf(key: string, stacks: readonly string[]): string | undefined {
  const ranked = stacks.map((name) => ({ name, rank: hashOf(`${name} ${key}`) }));
  return ranked.toSorted((a, b) => b.rank - a.rank || (a.name < b.name ? -1 : 1))[0]?.name;
}

/** FNV-1a, and the last step of MurmurHash3, which spreads its bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
