/** Reads the recorded transcripts, and chooses the releases to compare a coderd with. */
import { readdirSync, readFileSync } from 'node:fs';
import { compareVersion, isKnownVersion, parseVersion } from '../../../lambda/decision/model/version.ts';

export type Entry =
  | { readonly step: string; readonly asked: string; readonly status: number; readonly body: unknown }
  | { readonly step: string; readonly outcome: unknown }
  | { readonly step: string; readonly found: unknown };

export type Transcript = {
  readonly version: string;
  readonly playedAt: string;
  readonly calls: number;
  readonly entries: readonly Entry[];
};

const FOLDER = new URL('./recorded/', import.meta.url);

export function readTranscript(release: string): Transcript {
  return JSON.parse(readFileSync(new URL(`${release}.json`, FOLDER), 'utf8')) as Transcript;
}

export function recordedReleases(): readonly string[] {
  const releases = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));
  return releases.sort((a, b) => (compareVersion(a, b) ?? 0) || patchOf(a) - patchOf(b));
}

/**
 * Oldest first. If the minor release was recorded, that one; otherwise the nearest older and newer
 * ones, since what changed between them may have changed before. Outside: the oldest or newest.
 */
export function releasesToCompare(version: string, recorded: readonly string[]): readonly string[] {
  const newest = recorded.slice(-1);
  if (!isKnownVersion(version)) return newest;
  const isOlder = (release: string): boolean => (compareVersion(release, version) ?? 0) < 0;
  const own = recorded.filter((release) => compareVersion(release, version) === 0);
  const notNewer = own.filter((release) => patchOf(release) <= patchOf(version));
  if (own.length > 0) return notNewer.length > 0 ? notNewer.slice(-1) : own.slice(0, 1);
  const [before] = recorded.filter(isOlder).slice(-1);
  const [after] = recorded.filter((release) => !isOlder(release));
  if (after === undefined) return newest;
  return before === undefined ? [after] : [before, after];
}

function patchOf(version: string): number {
  return parseVersion(version)?.patch ?? 0;
}
