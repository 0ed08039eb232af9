/** GetProvisionerDaemonsWithStatusByOrganization, and its JSON (docs/internals/coder.md §2). */
import type { EpochMs, OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { KeptRows } from '../../base/kept-rows.ts';
import { tagsetContains } from '../rules/tagset-contains.ts';
import type { CoderVersion } from '../rules/versions.ts';
import { type DaemonRecord, type DaemonTable, isOffline, RECENT_MS } from '../tables/daemons.ts';
import type { Job, JobTable } from '../tables/jobs.ts';
import { rfc3339 } from './times.ts';

export type DaemonQuery = {
  readonly organizationId: OrganizationId;
  /** 0 = all. */
  readonly limit: number;
  /** Lower-case; empty = any. */
  readonly ids: readonly string[];
  readonly tags: Tags;
  readonly offline: boolean;
  /** Empty = any. */
  readonly statuses: readonly string[];
  /** Daemons not seen for longer are left out, in milliseconds; 0 = no limit. */
  readonly maxAgeMs: number;
};

type DaemonStatus = 'offline' | 'idle' | 'busy';

type Tables = {
  readonly jobs: JobTable;
  readonly daemons: DaemonTable;
  readonly version: CoderVersion;
  readonly now: EpochMs;
};

type Row = {
  readonly daemon: DaemonRecord;
  readonly current: Job | undefined;
  /** Whether it was not seen for 90 s, whatever its status is. */
  readonly isStale: boolean;
};

export function listDaemons(query: DaemonQuery, tables: Tables) {
  const { daemons, now, version } = tables;
  const isRecent = query.maxAgeMs > 0 && query.maxAgeMs <= RECENT_MS;
  const rows: Row[] = [];
  for (const daemon of isRecent ? daemons.recent(now) : daemons.all()) {
    if (!matches(daemon, query, now)) continue;
    for (const row of rowsOf(daemon, tables)) if (hasWantedStatus(row, query)) rows.push(row);
  }
  if (version.does('listsNewestDaemonsFirst')) rows.reverse();
  const listed = query.limit === 0 ? rows : rows.slice(0, query.limit);
  return listed.map((row) => answer(row, tables));
}

function matches(daemon: DaemonRecord, query: DaemonQuery, now: EpochMs): boolean {
  return (
    daemon.organizationId === query.organizationId &&
    (query.maxAgeMs === 0 || daemon.lastSeenAt >= now - query.maxAgeMs) &&
    (query.ids.length === 0 || query.ids.includes(daemon.id)) &&
    tagsetContains(daemon.tags, query.tags)
  );
}

/** One row for each current job, as the SQL's join returns them: two live daemons can share a row. */
function rowsOf(daemon: DaemonRecord, { jobs, now }: Tables): Row[] {
  const current = jobs.currentOf(daemon.id);
  const isStale = isOffline(daemon, now);
  if (current.length === 0) return [{ daemon, current: undefined, isStale }];
  return current.map((job) => ({ daemon, current: job, isStale }));
}

function statusOf({ current, isStale }: Row, version: CoderVersion): DaemonStatus {
  const isBusy = current !== undefined;
  if (isBusy && version.does('showsBusyRatherThanOffline')) return 'busy';
  if (isStale) return 'offline';
  return isBusy ? 'busy' : 'idle';
}

/** Stale daemons are listed if `offline` or the statuses ask for them, whatever their jobs are. */
function hasWantedStatus({ current, isStale }: Row, { offline, statuses }: DaemonQuery): boolean {
  if (isStale) return offline || statuses.includes('offline');
  return statuses.length === 0 || statuses.includes(current === undefined ? 'idle' : 'busy');
}

const answers = new KeptRows<DaemonRecord>();

function answer(row: Row, { jobs, version }: Tables) {
  const { daemon } = row;
  const { lastSeenAt } = daemon;
  const status = statusOf(row, version);
  const current = jobRef(row.current);
  const previous = jobRef(jobs.previousOf(daemon.id));
  return answers.of(daemon, [lastSeenAt, status, current, previous], () => ({
    id: daemon.id,
    organization_id: daemon.organizationId,
    key_id: daemon.keyId,
    created_at: rfc3339(daemon.createdAt),
    last_seen_at: rfc3339(lastSeenAt),
    name: daemon.name,
    version: daemon.version,
    api_version: daemon.apiVersion,
    provisioners: ['terraform'],
    tags: daemon.tags,
    key_name: daemon.keyName,
    status,
    current_job: current,
    previous_job: previous,
  }));
}

const refs = new KeptRows<Job>();

function jobRef(job: Job | undefined) {
  if (job === undefined) return null;
  const { status, template } = job;
  return refs.of(job, [status, template], () => ({
    id: job.id,
    status,
    template_name: template.name,
    template_icon: '',
    template_display_name: '',
  }));
}
