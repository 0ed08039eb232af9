/** Which release of Coder does what. The only file of the simulator that knows releases. */
import { daemonApiOf, parseVersion } from '../../../../lambda/decision/model/version.ts';
import { SimulatorError } from '../../base/simulator-error.ts';

/** Harder for a client than later releases: it hands over cancelled jobs, and does not send transitions. */
export const DEFAULT_RELEASE = 'v2.30.0';

/**
 * The first release with each behaviour; for a backported change, the first one of each release line. Of releases
 * before 2.20, which the autoscaler refuses, only the version is simulated.
 */
const SINCE = {
  listsNewestDaemonsFirst: ['2.21.0'],
  /** template_version_preset_id of builds. */
  tellsPresets: ['2.22.0'],
  reapsPendingJobs: ['2.23.0'],
  /** The list of templates leaves out deprecated ones by default (fetchTemplates). */
  hidesDeprecatedTemplates: ['2.23.0'],
  tellsWorkerNames: ['2.23.0'],
  /** Jobs of the prebuilds user come last when a job is acquired. */
  runsPrebuildsLast: ['2.25.0'],
  /** is_prebuild of workspaces. */
  tellsPrebuilds: ['2.25.0'],
  /** coderd makes a transition only if a daemon for it was seen. */
  gatesAutostart: ['2.26.0'],
  /** The parameters offline, status and max_age; offline daemons are left out by default. */
  filtersOfflineDaemons: ['2.26.0'],
  /** #19378 too. Before, a daemon with a job that was not seen for 90 s was shown as offline. */
  showsBusyRatherThanOffline: ['2.26.0'],
  tellsLogOverflow: ['2.26.0'],
  /** The initiator filter, and initiator_id. */
  knowsInitiators: ['2.28.0'],
  /** #26376. Before, using an API token extended its expiry. */
  fixesTokenEnds: ['2.29.18', '2.32.8', '2.33.9', '2.34.3', '2.35.0'],
  /** Unless the organization has disabled workspace sharing (rbac.OrgMemberPermissions). */
  letsMembersReadMembers: ['2.30.0'],
  /** #21852. Before, a job cancelled while pending was still acquired (docs/internals/coder.md §4). */
  skipsCancelledJobs: ['2.31.1'],
  /** status and login_type of the members list (codersdk.OrganizationMemberWithUserData). */
  tellsUserStatus: ['2.32.0'],
  /** metadata.workspace_build_transition (docs/internals/coder.md §1). */
  tellsTransitions: ['2.33.0'],
  /** #26203. Before, only failed starts were cleaned up (isEligibleForFailedCleanup). */
  cleansUpFailedStops: ['2.33.8', '2.34.2', '2.35.0'],
  tellsMemberRoles: ['2.35.0'],
  /** A user without a login must be a service account, which has no email (postUser). */
  needsServiceAccounts: ['2.36.0'],
  /** #26532, on main. Before, sessions outlived their key (docs/internals/coder.md §3). */
  closesSessionsOfDeletedKeys: ['2.37.0'],
} as const;

type Behaviour = keyof typeof SINCE;

/** The API versions of releases that the table does not have: older ones, and main. */
const [OLDEST_API, NEWEST_API] = [1, 18];

type Release = { readonly minor: number; readonly patch: number };

/** A release of Coder 2, such as `v2.30.0` or `v2.34.0+3006da5`. */
export class CoderVersion {
  readonly text: string;
  readonly #release: Release;
  readonly #known = new Map<Behaviour, boolean>();

  constructor(text: string) {
    this.text = text;
    this.#release = releaseOf(text);
  }

  does(behaviour: Behaviour): boolean {
    const known = this.#known.get(behaviour) ?? this.#derive(behaviour);
    this.#known.set(behaviour, known);
    return known;
  }

  #derive(behaviour: Behaviour): boolean {
    const { minor, patch } = this.#release;
    const since = SINCE[behaviour].map(releaseOf);
    const isLater = since.every((first) => minor > first.minor);
    return isLater || since.some((first) => minor === first.minor && patch >= first.patch);
  }

  get provisionerApi(): string {
    return `1.${this.#daemonApi}`;
  }

  /** A daemon's API must not be newer than the server's (docs/internals/coder.md §5). */
  accepts(daemon: CoderVersion): boolean {
    return daemon.#daemonApi <= this.#daemonApi;
  }

  get #daemonApi(): number {
    return daemonApiOf(this.text) ?? (this.#release.minor < 18 ? OLDEST_API : NEWEST_API);
  }
}

function releaseOf(text: string): Release {
  const { major, minor, patch } = parseVersion(text) ?? {};
  if (major !== 2 || minor === undefined || patch === undefined)
    throw new SimulatorError(`reading the version "${text}": expected v2.<minor>.<patch>`);
  return { minor, patch };
}
