import { distance } from 'fastest-levenshtein';
import { ownValue } from '../../decision/model/collections.ts';

/** Other names of these values. */
const SYNONYMS: Readonly<Record<string, string>> = { amd64: 'x86_64', x64: 'x86_64', aarch64: 'arm64' };

/** The valid name that is most similar; undefined if none is similar enough. */
export function nearestName(name: string, valid: readonly string[]): string | undefined {
  const synonym = ownValue(SYNONYMS, name.toLowerCase());
  if (synonym !== undefined && valid.includes(synonym)) return synonym;
  return valid.find((other) => fold(other) === fold(name)) ?? onlyStart(name, valid) ?? closest(name, valid);
}

function onlyStart(name: string, valid: readonly string[]): string | undefined {
  const starting = valid.filter((other) => fold(other).startsWith(fold(name)));
  return fold(name).length >= 3 && starting.length === 1 ? starting[0] : undefined;
}

function closest(name: string, valid: readonly string[]): string | undefined {
  const near = valid
    .map((other) => ({ other, typos: typosOf(fold(name), fold(other)) }))
    .filter(({ other, typos }) => typos <= Math.max(1, Math.floor(other.length / 3)))
    .sort((a, b) => a.typos - b.typos);
  return near[0]?.other;
}

/** Letters in the wrong order are one typo. */
function typosOf(name: string, other: string): number {
  return sorted(name) === sorted(other) ? 1 : distance(name, other);
}

const sorted = (text: string): string => [...text].sort().join('');

/** Other tools write `idleTimeout` as `idle_timeout`, `idle-timeout` or `IdleTimeout`. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Why a time zone is wrong, as the end of a sentence about it; undefined if it is right. */
export function timeZoneProblem(text: string): string | undefined {
  if (isTimeZone(text)) return undefined;
  const near = nearestZone(text);
  const guess = near === undefined ? '' : `did you mean "${near}"? `;
  return `is not a time zone; ${guess}write an IANA name, such as Europe/Berlin`;
}

/**
 * Intl also accepts offsets such as `+01:00`, which have no daylight saving time. Its list of zones
 * lacks aliases, but is ten times as fast as making a format.
 */
function isTimeZone(text: string): boolean {
  if (Intl.supportedValuesOf('timeZone').includes(text)) return true;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).format(0) !== '' && /^[a-z]/i.test(text);
  } catch {
    return false;
  }
}

/** People often write only the city. */
function nearestZone(text: string): string | undefined {
  const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
  const city = `/${text.toLowerCase().replaceAll(' ', '_')}`;
  return zones.find((zone) => zone.toLowerCase().endsWith(city)) ?? nearestName(text, zones);
}
