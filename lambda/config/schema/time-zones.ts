import { nearestName } from './names.ts';

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
