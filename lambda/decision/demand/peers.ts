/**
 * Peers: other stacks of the same coderd whose pools run the same jobs. Each tag set belongs to one of the
 * stacks, by a hash that all of them compute alike, so they need no message (docs/adr/0048). A stack leaves
 * the jobs of its peers to them for a grace, in which a peer that works has a daemon.
 */
import { type EpochMs, type OrganizationId, plusMs } from '../model/brands.ts';
import { covers, normalizeTags, type Tags, tagKey } from '../model/tags.ts';
import { MINUTE_MS } from '../model/units.ts';
import type { PoolView } from '../supply/supply.ts';

/** The stack that a job is left to, and from when this stack launches for it too. */
export type Left = { readonly peer: string; readonly until: EpochMs };

/** coderd fails a job after 30 minutes: a daemon of this stack has to come before. */
const LONGEST_GRACE_MS = 10 * MINUTE_MS;

/** Tells to which peer a job with these tags is left that came `at` a time; undefined: it is this stack's. */
export type LeftOf = (organizationId: OrganizationId, tags: Tags, at: EpochMs) => Left | undefined;

export function leftToPeers(supply: readonly PoolView[], now: EpochMs): LeftOf {
  const shared = supply.filter(({ pool }) => pool.peers !== undefined);
  const known = new Map<string, Owner>();
  return (organizationId, tags, at) => {
    if (shared.length === 0) return undefined;
    const key = `${organizationId} ${tagKey(tags)}`;
    const isFitting = (view: PoolView): boolean =>
      view.organization?.id === organizationId && covers(view.tags, normalizeTags(tags));
    const { peer, graceMs } = known.get(key) ?? ownerAmong(shared.filter(isFitting), key);
    known.set(key, { peer, graceMs });
    const until = plusMs(at, graceMs);
    return peer === undefined || until <= now ? undefined : { peer, until };
  };
}

/** The peer to which a tag set belongs, and the grace. Undefined: it belongs to this stack. */
type Owner = { readonly peer: string | undefined; readonly graceMs: number };

function ownerAmong(fitting: readonly PoolView[], key: string): Owner {
  const peers = fitting.flatMap(({ pool }) => pool.peers ?? []);
  const owner = ownerOf(key, [...new Set(peers.flatMap(({ self, others }) => [self, ...others]))]);
  // a peer looks within a minute, and starts like the pools of this stack
  const startMs = Math.max(0, ...fitting.map(({ startTime }) => startTime.p95Ms));
  return {
    peer: peers.some(({ self }) => self === owner) ? undefined : owner,
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
