/** Which release of Coder does what: the only place in the world that knows about versions. */

/**
 * The first 2.x release that behaves so (contract §12). Where the contract leaves the release open, the reading
 * that is harder on a client.
 */
const SINCE = {
  /** The provisionerjobs route; strict parameters, limit and computed fields of provisionerdaemons (contract §1, §2). */
  listsJobs: 19,
  listsNewestDaemonsFirst: 20,
  reapsPendingJobs: 23,
  /** The list of templates leaves deprecated ones out unless asked for them (fetchTemplates). */
  hidesDeprecatedTemplates: 23,
  /** "2.25 or 2.26", contract §10. */
  gatesAutostart: 25,
  /** The parameters offline, status and max_age; offline daemons left out unless asked for. */
  filtersOfflineDaemons: 26,
  /** The initiator filter, initiator_id, worker_name, logs_overflowed; prebuilds last ("by 2.28", contract §12). */
  knowsInitiators: 28,
  /** #21852: before, a job cancelled while pending was still acquired (contract §4). */
  skipsCancelledJobs: 31,
  /** status and login_type of the members list (codersdk.OrganizationMemberWithUserData). */
  tellsUserStatus: 32,
  /** #26532: before, sessions outlived their key (contract §3). */
  closesSessionsOfDeletedKeys: 35,
  /** metadata.workspace_build_transition (contract §1). */
  tellsTransitions: 35,
} as const;

/** What came to several release lines at once: the first patch release of each, by minor; the last line and all after it have it. */
const SINCE_PATCH = {
  /** #26203: before, only failed starts were cleaned up (isEligibleForFailedCleanup). */
  cleansUpFailedStops: { 33: 8, 34: 2, 35: 0 },
} as const satisfies Readonly<Record<string, Readonly<Record<number, number>>>>;

export type Behaviour = keyof typeof SINCE | keyof typeof SINCE_PATCH;

/** Provisioner API versions by release (contract §9). */
const API_VERSIONS = [
  { minor: 34, api: '1.18' },
  { minor: 33, api: '1.17' },
  { minor: 0, api: '1.14' },
] as const;

/** A release of Coder 2, such as `v2.30.0` or `v2.34.0+3006da5`. */
export class CoderVersion {
  readonly text: string;
  readonly #minor: number;
  readonly #patch: number;

  constructor(text: string) {
    const [, minor, patch] = /^v?2\.(\d+)\.(\d+)/.exec(text) ?? [];
    if (minor === undefined) throw new Error(`reading the version "${text}": expected v2.<minor>.<patch>`);
    this.text = text;
    this.#minor = Number(minor);
    this.#patch = Number(patch);
  }

  does(behaviour: Behaviour): boolean {
    if (behaviour in SINCE) return this.#minor >= SINCE[behaviour as keyof typeof SINCE];
    const lines: Readonly<Record<number, number>> = SINCE_PATCH[behaviour as keyof typeof SINCE_PATCH];
    const isLater = Object.keys(lines).every((minor) => this.#minor > Number(minor));
    return isLater || this.#patch >= (lines[this.#minor] ?? Number.POSITIVE_INFINITY);
  }

  /** The version of the provisioner daemon API, `major.minor`. */
  get provisionerApi(): string {
    return API_VERSIONS.find(({ minor }) => this.#minor >= minor)?.api ?? '1.0';
  }

  /** Whether a daemon of that release is let in: its API may not be newer than the server's (contract §5). */
  accepts(daemon: CoderVersion): boolean {
    return daemon.#minor <= this.#minor;
  }
}
