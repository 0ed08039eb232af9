import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import { type TagSet, tagKey } from '../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { tagsetContains } from './rules/tagset-contains.ts';
import { type DaemonTable, isOffline } from './tables/daemons.ts';
import { isDue } from './tables/transitions.ts';
import type { WorkspaceRecord } from './tables/workspace-records.ts';
import type { WorkspaceTable } from './tables/workspaces.ts';

type Gate = (organizationId: OrganizationId, tags: TagSet) => boolean;

/**
 * One tick of the lifecycle executor (docs/internals/coder.md §10): makes the due transitions, but
 * only of workspaces for which coderd has recently seen a daemon with the tags of the template's
 * active version. For the others nothing happens, not even a mark; the next tick tries again.
 */
export function runLifecycle(given: {
  readonly workspaces: WorkspaceTable;
  readonly daemons: DaemonTable;
  readonly now: EpochMs;
  /** Whether this release has the gate. */
  readonly gated: boolean;
}): void {
  const { workspaces, daemons, now, gated } = given;
  const isOpen = gated ? gateOf(daemons, now) : () => true;
  // The executor counts in whole minutes, whatever its poll interval is.
  const tick = (Math.floor(now / MINUTE_MS) * MINUTE_MS) as EpochMs;
  for (const workspace of workspaces.dueAt(tick)) transition(workspace, { workspaces, tick, isOpen });
}

function transition(
  workspace: WorkspaceRecord,
  given: { readonly workspaces: WorkspaceTable; readonly tick: EpochMs; readonly isOpen: Gate },
): void {
  const { workspaces, tick, isOpen } = given;
  const { id, organizationId, template, latestBuild, transitions } = workspace;
  const due = transitions.find((one) => isDue(one, tick));
  if (due === undefined || !isOpen(organizationId, template.activeVersion.tags)) {
    workspaces.renewNextStart(id, tick);
    return;
  }
  // It is one transaction: if the build cannot be inserted, nothing is marked either.
  if (due.transition !== undefined && workspace.refusesBuilds) return;
  if (due.transition !== undefined) {
    // In coderd a second build during an active one is an error; the next tick retries.
    if (latestBuild.job.completedAt === undefined) return;
    workspaces.build(id, { transition: due.transition, reason: due.reason });
  }
  if (due.reason === 'dormancy') workspaces.markDormant(id);
}

/** Caches results within a tick: there are far fewer tag sets than workspaces. */
function gateOf(daemons: DaemonTable, now: EpochMs): Gate {
  const seen = daemons.recent(now).filter((daemon) => !isOffline(daemon, now));
  const known = new Map<string, boolean>();
  return (organizationId, tags) => {
    const key = `${organizationId} ${tagKey(tags)}`;
    const isOpen =
      known.get(key) ??
      seen.some((daemon) => daemon.organizationId === organizationId && tagsetContains(daemon.tags, tags));
    known.set(key, isOpen);
    return isOpen;
  };
}
