/** What depends on the release of Coder, from its git tags (docs/internals/coder.md §12). */

/** Older ones lack the list of jobs, or its filter by id (docs/internals/coder.md §1, §12). */
export const OLDEST_SERVER = '2.20';
/** coderd fails a job that has been pending for 30 minutes (docs/internals/coder.md §5). */
export const REAPS_PENDING_SINCE = '2.23';
/**
 * From this release on, coderd filters the list of daemons by status and age, and leaves out
 * offline ones by default. Older servers list them, and answer 400 to the parameters
 * (docs/internals/coder.md §2).
 */
const FILTERS_DAEMONS_SINCE = '2.26';
/** From this release on, a user without a login must be a service account (docs/internals/coder.md §9). */
const NEEDS_SERVICE_ACCOUNTS_SINCE = '2.36';
/** The first patch with coder #26203, by minor version. Later releases have it. */
const CLEANS_UP_STOPS = new Map([
  [33, 8],
  [34, 2],
]);

/** Compares `v2.30.0+3006da5` with `2.30`. Negative: older; undefined: not a version. */
export function compareVersion(version: string | undefined, release: string): number | undefined {
  const seen = parseVersion(version ?? '');
  const other = parseVersion(release);
  if (seen === undefined || other === undefined) return undefined;
  return seen.major - other.major || seen.minor - other.minor;
}

/** Whether it names a release: `v0.0.0-devel`, a build without a tag, does not. */
export function isKnownVersion(version: string | undefined): boolean {
  return parseVersion(version ?? '') !== undefined;
}

/** Whether coderd filters the list of daemons. False if the version is unknown. */
export function filtersDaemons(version: string | undefined): boolean {
  return (compareVersion(version, FILTERS_DAEMONS_SINCE) ?? -1) >= 0;
}

/** Whether a user without a login must be a service account. True if the version is unknown. */
export function needsServiceAccounts(version: string | undefined): boolean {
  return (compareVersion(version, NEEDS_SERVICE_ACCOUNTS_SINCE) ?? 0) >= 0;
}

/**
 * Whether coderd stops a workspace again after its stop failed, as it does after a failed start.
 * True if the version is unknown: a build of coderd's main branch (`-devel`) does not tell which
 * fixes it has.
 */
export function cleansUpFailedStops(version: string | undefined): boolean {
  const seen = parseVersion(version ?? '');
  if (seen === undefined || version?.includes('-devel')) return true;
  if (seen.major !== 2 || seen.minor > Math.max(...CLEANS_UP_STOPS.keys())) return seen.major >= 2;
  return (seen.patch ?? 0) >= (CLEANS_UP_STOPS.get(seen.minor) ?? Number.POSITIVE_INFINITY);
}

/** The minor version of daemon API 1.x, by that of the release (provisionerd/proto/version.go). */
const DAEMON_API = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 18, 18] as const;
const FIRST_MINOR = 18;

/** A server accepts the same or a lower one (apiversion/apiversion.go). Undefined: unknown. */
export function daemonApiOf(version: string): number | undefined {
  const release = parseVersion(version);
  if (release?.major !== 2 || /-(?:rc|devel)/.test(version)) return undefined;
  // v2.31.0 has the API of 2.30. A tag "v2.31" may be any patch release of 2.31.
  const minor = release.minor === 31 && (release.patch ?? 0) === 0 ? 30 : release.minor;
  return DAEMON_API[minor - FIRST_MINOR];
}

/** The release in the tag of the official image, mirrored or not. Undefined for other images. */
export function releaseOfImage(image: string): string | undefined {
  return /(?:^|\/)coder\/coder:(v\d[^@]*)/.exec(image)?.[1];
}

export type Release = {
  readonly major: number;
  readonly minor: number;
  readonly patch: number | undefined;
};

/** Parses the beginning of a version, such as `v2.30.0+3006da5` or `2.30`. */
export function parseVersion(version: string): Release | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  // a build without a git tag has the version v0.0.0-devel
  if (Number(major) === 0 && Number(minor) === 0) return undefined;
  return {
    major: Number(major),
    minor: Number(minor),
    patch: patch === undefined ? undefined : Number(patch),
  };
}
