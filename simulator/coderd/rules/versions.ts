/** Which release of Coder does what, read in coder's tags: the only place in the world that knows about versions. */
import { daemonApiOf } from '../../../lambda/decision/model/version.ts';

/** Harder on a client than later ones: it hands over cancelled jobs, and does not tell transitions. */
export const DEFAULT_RELEASE = 'v2.30.0';

/** The first release that behaves so; where the change was backported, the first one of each line. */
const SINCE = {
  /** The provisionerjobs route, and the computed fields of provisionerdaemons (docs/coder.md §1, §2). */
  listsJobs: ['2.19.0'],
  /** The filters by id and tags of both lists, the default limit of 50, strict parameters and 404 of provisionerdaemons, job metadata. */
  filtersLists: ['2.20.0'],
  listsNewestDaemonsFirst: ['2.21.0'],
  reapsPendingJobs: ['2.23.0'],
  /** The list of templates leaves deprecated ones out unless asked for them (fetchTemplates). */
  hidesDeprecatedTemplates: ['2.23.0'],
  tellsWorkerNames: ['2.23.0'],
  /** Jobs of the prebuilds user come last when a job is acquired. */
  runsPrebuildsLast: ['2.25.0'],
  /** Nothing is done to a workspace by itself unless a daemon is there for it. */
  gatesAutostart: ['2.26.0'],
  /** The parameters offline, status and max_age; offline daemons left out unless asked for. */
  filtersOfflineDaemons: ['2.26.0'],
  /** #19378 too: before, a daemon with a job that was not seen for 90 s read offline. */
  showsBusyRatherThanOffline: ['2.26.0'],
  tellsLogOverflow: ['2.26.0'],
  /** The initiator filter, and initiator_id. */
  knowsInitiators: ['2.28.0'],
  /** #26376: before, using an API token put its end off. */
  fixesTokenEnds: ['2.29.18', '2.32.8', '2.33.9', '2.34.3', '2.35.0'],
  /** Every member reads the others, unless the organization has no sharing of workspaces (rbac.OrgMemberPermissions). */
  letsMembersReadMembers: ['2.30.0'],
  /** #21852: before, a job cancelled while pending was still acquired (docs/coder.md §4). */
  skipsCancelledJobs: ['2.31.1'],
  /** status and login_type of the members list (codersdk.OrganizationMemberWithUserData). */
  tellsUserStatus: ['2.32.0'],
  /** metadata.workspace_build_transition (docs/coder.md §1). */
  tellsTransitions: ['2.33.0'],
  /** #26203: before, only failed starts were cleaned up (isEligibleForFailedCleanup). */
  cleansUpFailedStops: ['2.33.8', '2.34.2', '2.35.0'],
  tellsMemberRoles: ['2.35.0'],
  /** #26532: before, sessions outlived their key (docs/coder.md §3). On main; in no release up to 2.36.0. */
  closesSessionsOfDeletedKeys: ['2.37.0'],
} as const;

export type Behaviour = keyof typeof SINCE;

/** Of releases that the table doesn't know: older ones, and main. */
const [OLDEST_API, NEWEST_API] = [1, 18];

type Release = { readonly minor: number; readonly patch: number };

/** A release of Coder 2, such as `v2.30.0` or `v2.34.0+3006da5`. */
export class CoderVersion {
  readonly text: string;
  readonly #release: Release;

  constructor(text: string) {
    this.text = text;
    this.#release = releaseOf(text);
  }

  does(behaviour: Behaviour): boolean {
    const { minor, patch } = this.#release;
    const since = SINCE[behaviour].map(releaseOf);
    const isLater = since.every((first) => minor > first.minor);
    return isLater || since.some((first) => minor === first.minor && patch >= first.patch);
  }

  /** The version of the provisioner daemon API, `major.minor`. */
  get provisionerApi(): string {
    return `1.${this.#daemonApi}`;
  }

  /** Whether a daemon of that release is let in: its API may not be newer than the server's (docs/coder.md §5). */
  accepts(daemon: CoderVersion): boolean {
    return daemon.#daemonApi <= this.#daemonApi;
  }

  get #daemonApi(): number {
    return daemonApiOf(this.text) ?? (this.#release.minor < 18 ? OLDEST_API : NEWEST_API);
  }
}

function releaseOf(text: string): Release {
  const [, minor, patch] = /^v?2\.(\d+)\.(\d+)/.exec(text) ?? [];
  if (minor === undefined || patch === undefined)
    throw new Error(`reading the version "${text}": expected v2.<minor>.<patch>`);
  return { minor: Number(minor), patch: Number(patch) };
}
