import type { DaemonId, EpochMs, OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import type { TagSet } from '../../../../lambda/decision/model/tags.ts';
import type { Random } from '../../base/random.ts';

/** Not seen for longer: offline, and the autostart gate is closed (docs/internals/coder.md §2, §10). */
const STALE_MS = 90_000;
/** How often coderd writes a heartbeat for an open websocket (docs/internals/coder.md §2). */
export const HEARTBEAT_MS = 60_000;

/** What a daemon sends when it connects, with the properties of its key. */
export type DaemonRegistration = {
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly tags: TagSet;
  readonly version: string;
  readonly apiVersion: string;
};

export type DaemonRecord = DaemonRegistration & {
  readonly id: DaemonId;
  readonly createdAt: EpochMs;
  readonly lastSeenAt: EpochMs;
};

type Daemon = DaemonRecord & { lastSeenAt: EpochMs };

export const RECENT_MS = 3_600_000;

export class DaemonTable {
  readonly #byId = new Map<DaemonId, Daemon>();
  /** Those seen within the hour, and some older ones: the table has the rows of a week. */
  readonly #recent = new Map<DaemonId, Daemon>();
  #recentAt = Number.NEGATIVE_INFINITY;
  readonly #idByName = new Map<string, DaemonId>();
  readonly #random: Random;
  readonly #heartbeatAgeMs: (id: DaemonId) => number | undefined;
  #changes = 0;

  constructor(random: Random, heartbeatAgeMs: (id: DaemonId) => number | undefined = () => 0) {
    this.#random = random;
    this.#heartbeatAgeMs = heartbeatAgeMs;
  }

  get changes(): number {
    return this.#changes;
  }

  /** UpsertProvisionerDaemon: organization, name and owner identify a row (docs/internals/coder.md §2). */
  upsert(registration: DaemonRegistration, now: EpochMs): DaemonRecord {
    const name = uniqueName(registration);
    const id = this.#idByName.get(name) ?? (this.#random.uuid() as DaemonId);
    const createdAt = this.#byId.get(id)?.createdAt ?? now;
    const lastSeenAt = (now - (this.#heartbeatAgeMs(id) ?? 0)) as EpochMs;
    const daemon = { ...registration, id, createdAt, lastSeenAt };
    this.#idByName.set(name, id);
    this.#byId.set(id, daemon);
    this.#recent.set(id, daemon);
    this.#changes += 1;
    return daemon;
  }

  /**
   * Writes a heartbeat (UpdateProvisionerDaemonLastSeenAt), by the clock of a replica. It restores no deleted
   * row, and sets no time back.
   */
  beat(id: DaemonId, now: EpochMs): void {
    const ageMs = this.#heartbeatAgeMs(id);
    const lastSeenAt = this.#byId.get(id)?.lastSeenAt;
    if (ageMs === undefined || lastSeenAt === undefined || now - ageMs < lastSeenAt) return;
    this.setLastSeen(id, (now - ageMs) as EpochMs);
  }

  /** Does not restore a deleted row. */
  setLastSeen(id: DaemonId, at: EpochMs): void {
    const daemon = this.#byId.get(id);
    if (daemon === undefined) return;
    daemon.lastSeenAt = at;
    this.#recent.set(id, daemon);
  }

  get(id: DaemonId): DaemonRecord | undefined {
    return this.#byId.get(id);
  }

  all(): IteratorObject<DaemonRecord> {
    return this.#byId.values();
  }

  recent(now: EpochMs): readonly DaemonRecord[] {
    // a test may let the lifecycle executor look from a later time
    if (now < this.#recentAt) for (const daemon of this.#byId.values()) this.#recent.set(daemon.id, daemon);
    this.#recentAt = now;
    const seen: Daemon[] = [];
    for (const daemon of this.#recent.values())
      if (daemon.lastSeenAt >= now - RECENT_MS) seen.push(daemon);
      else this.#recent.delete(daemon.id);
    return seen.sort((a, b) => a.createdAt - b.createdAt);
  }

  deleteWhere(isGone: (daemon: DaemonRecord) => boolean): void {
    for (const daemon of this.#byId.values()) {
      if (!isGone(daemon)) continue;
      this.#byId.delete(daemon.id);
      this.#recent.delete(daemon.id);
      this.#idByName.delete(uniqueName(daemon));
      this.#changes += 1;
    }
  }
}

export function isOffline(daemon: DaemonRecord, now: EpochMs): boolean {
  return daemon.lastSeenAt < now - STALE_MS;
}

/** The unique index idx_provisioner_daemons_org_name_owner_key. */
function uniqueName({ organizationId, name, tags }: DaemonRegistration): string {
  return JSON.stringify([organizationId, name, tags.owner.toLowerCase()]);
}
