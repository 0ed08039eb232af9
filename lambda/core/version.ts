/** Below this there is no provisioner jobs API (contract §1, §12). */
export const OLDEST_SERVER = '2.19';
/** From here on, jobs that have been pending for 30 minutes are failed (contract §5). */
export const REAPS_PENDING_SINCE = '2.23';

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

function parse(version: string): { readonly major: number; readonly minor: number } | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  // builds without a tag call themselves v0.0.0-devel
  if (Number(major) === 0 && Number(minor) === 0) return undefined;
  return { major: Number(major), minor: Number(minor) };
}
