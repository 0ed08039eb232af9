import { ownValue } from '../../../lambda/decision/model/collections.ts';
import type { Finding, FindingCode } from '../../../lambda/decision/model/plan.ts';

/** Whether no world without a fault may have the finding. Limits, and jobs that fit no pool, need none. */
export const needsFault = (code: Finding['code']): boolean => ownValue(NEEDS_FAULT, code) ?? true;

const NEEDS_FAULT: Readonly<Record<FindingCode, boolean>> = {
  'version-unknown': true,
  // coderd's database takes long for a list of many jobs
  'jobs-list-slow': false,
  'token-expires': true,
  'license-in-grace': true,
  'license-missing': true,
  'server-too-old': true,
  'clocks-differ': true,
  'service-without-pool': true,
  'organization-unknown': true,
  'daemons-empty-while-leased': true,
  'jobs-empty-while-busy': true,
  'worker-unknown': true,
  'heartbeats-old': true,
  'heartbeats-late': true,
  'pools-alike': true,
  // the builds of bursts have no workspace in coderd's list
  'workspaces-empty': false,
  'transitions-without-pool': true,
  'transitions-late': false,
  'transitions-refused': true,
  'transitions-held': true,
  'jobs-waiting': false,
  'jobs-about-to-fail': false,
  'jobs-never-started': false,
  'override-malformed': true,
  'image-newer-than-server': true,
  'daemons-share-task': true,
  'starts-failing': true,
  'starts-throttled': true,
  'placement-failing': true,
  'build-died-with-task': true,
  'build-of-task-unknown': true,
  'daemons-without-task': true,
  'tasks-fewer-than-counted': true,
  'service-missing': true,
  'service-ambiguous': true,
  // with reads that lag, another process of the function may have set it
  'count-changed-by-others': false,
  'count-contested': true,
  'daemon-tags-differ': true,
  'possible-intruder': true,
  'psk-changed': true,
  'tasks-with-old-secret': true,
  'tasks-unguarded': true,
  'tasks-lease-late': true,
  'tasks-vacant': true,
  'tasks-without-daemon': true,
  'tasks-draining-without-daemon': true,
  'tasks-draining-for-long': false,
  'tasks-busy-for-long': true,
};
