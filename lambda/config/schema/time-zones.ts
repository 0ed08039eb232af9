import { nearestName } from './names.ts';

/** What is wrong with a time zone, as the end of a sentence about it; undefined if nothing is. */
export function timeZoneProblem(text: string): string | undefined {
  if (isTimeZone(text)) return undefined;
  const near = nearestZone(text);
  const guess = near === undefined ? '' : `did you mean "${near}"? `;
  return `is not a time zone; ${guess}write an IANA name, such as Europe/Berlin`;
}

/**
 * Intl also takes offsets such as `+01:00`, which know no daylight saving. Its list of zones lacks
 * aliases, but it is ten times as fast as a first format.
 */
function isTimeZone(text: string): boolean {
  if (Intl.supportedValuesOf('timeZone').includes(text)) return true;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).format(0) !== '' && /^[a-z]/i.test(text);
  } catch {
    return false;
  }
}

/** Many write only the city. */
function nearestZone(text: string): string | undefined {
  const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
  const city = `/${text.toLowerCase().replaceAll(' ', '_')}`;
  return zones.find((zone) => zone.toLowerCase().endsWith(city)) ?? nearestName(text, zones);
}
