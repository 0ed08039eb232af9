/** Which release of Coder does what, read in coder's tags (docs/coder.md §12). */

/** Before, the list of provisioner jobs is missing, or it cannot be asked for jobs by their ids (docs/coder.md §1, §12). */
export const OLDEST_SERVER = '2.20';
/** From here on, jobs that have been pending for 30 minutes are failed (docs/coder.md §5). */
export const REAPS_PENDING_SINCE = '2.23';
/** coder #26203 came to three release lines: the first patch release of each, by minor. Later lines begin with it. */
const CLEANS_UP_STOPS = new Map([
  [33, 8],
  [34, 2],
  [35, 0],
]);

/**
 * Compares a coderd version such as `v2.30.0+3006da5` with `major.minor`: negative when it is older.
 * Undefined when the version can't be read.
 */
export function compareVersion(version: string | undefined, with_: string): number | undefined {
  const seen = parse(version ?? '');
  const other = parse(with_);
  if (seen === undefined || other === undefined) return undefined;
  return seen.major - other.major || seen.minor - other.minor;
}

/** Whether a version tells the release. That of a build without a tag, `v0.0.0-devel`, does not. */
export function isKnownVersion(version: string | undefined): boolean {
  return parse(version ?? '') !== undefined;
}

/**
 * Whether coderd stops a workspace again whose stop has failed, as it does with failed starts. True where the version is unknown: a
 * build of coderd's main branch (`-devel`) does not tell which fixes it has.
 */
export function cleansUpFailedStops(version: string | undefined): boolean {
  const seen = parse(version ?? '');
  if (seen === undefined || DEVEL.test(version ?? '')) return true;
  if (seen.major !== 2 || seen.minor > Math.max(...CLEANS_UP_STOPS.keys())) return seen.major >= 2;
  return (seen.patch ?? 0) >= (CLEANS_UP_STOPS.get(seen.minor) ?? Number.POSITIVE_INFINITY);
}

const DEVEL = /^[^+]*-devel/;

/** Of the provisioner daemon API 1.x: its minor version by that of the release (provisionerd/proto/version.go). */
const DAEMON_API: ReadonlyMap<number, number> = new Map([
  [18, 1],
  [19, 2],
  [20, 3],
  [21, 4],
  [22, 5],
  [23, 6],
  [24, 7],
  [25, 8],
  [26, 9],
  [27, 10],
  [28, 11],
  [29, 12],
  [30, 14],
  [31, 15],
  [32, 16],
  [33, 17],
  [34, 18],
  [35, 18],
  [36, 18],
]);

/**
 * The minor version of the daemon API that a release has. A server takes daemons of the same and of lower ones (apiversion/apiversion.go).
 * Undefined for releases that are not known.
 */
export function daemonApiOf(version: string): number | undefined {
  const release = parse(version);
  if (release?.major !== 2 || /-(?:rc|devel)/.test(version)) return undefined;
  // v2.31.0 has that of 2.30; a tag "v2.31" may be any of 2.31
  if (release.minor === 31 && (release.patch ?? 0) === 0) return DAEMON_API.get(30);
  return DAEMON_API.get(release.minor);
}

/** The release in the tag of the official image, mirrored or not: of other images nothing is known. */
export function releaseOfImage(image: string): string | undefined {
  return /(?:^|\/)coder\/coder:(v\d[^@]*)/.exec(image)?.[1];
}

type Release = { readonly major: number; readonly minor: number; readonly patch: number | undefined };

function parse(version: string): Release | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  // builds without a tag call themselves v0.0.0-devel
  if (Number(major) === 0 && Number(minor) === 0) return undefined;
  return {
    major: Number(major),
    minor: Number(minor),
    patch: patch === undefined ? undefined : Number(patch),
  };
}
