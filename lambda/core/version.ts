/** Below this there is no provisioner jobs API (contract §1, §12). */
export const OLDEST_SERVER = '2.19';
/** From here on, jobs that have been pending for 30 minutes are failed (contract §5). */
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

/**
 * Whether coderd stops a workspace again whose stop has failed, as it does with failed starts. True where the version is unknown: a
 * build of coderd's main branch (`-devel`) does not tell which fixes it has.
 */
export function cleansUpFailedStops(version: string | undefined): boolean {
  const seen = parse(version ?? '');
  if (seen === undefined || seen.isDevel) return true;
  if (seen.major !== 2 || seen.minor > Math.max(...CLEANS_UP_STOPS.keys())) return seen.major >= 2;
  return seen.patch >= (CLEANS_UP_STOPS.get(seen.minor) ?? Number.POSITIVE_INFINITY);
}

type Release = {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  readonly isDevel: boolean;
};

function parse(version: string): Release | undefined {
  const [, major, minor, patch = 0, suffix = ''] = /^v?(\d+)\.(\d+)(?:\.(\d+))?(.*)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  // builds without a tag call themselves v0.0.0-devel
  if (Number(major) === 0 && Number(minor) === 0) return undefined;
  const isDevel = suffix.startsWith('-devel');
  return { major: Number(major), minor: Number(minor), patch: Number(patch), isDevel };
}
