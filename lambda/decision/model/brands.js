/** The last part of an ARN: the id of a task, or the name of a service. */
export const lastPart = (arn) => arn.slice(arn.lastIndexOf('/') + 1);
/** Adds milliseconds to a time. */
export const plusMs = (time, ms) => time + ms;
/** Formats a time as the plan writes it: RFC 3339, UTC, with milliseconds. */
export const isoTime = (ms) => new Date(ms).toISOString();
/** Names of pools have no slash, so no pool has the name of a part (settings/parts.ts). */
const SPOT_PART = '/spot';
/** The part on Spot of a pool with two kinds of capacity. */
export function spotPartOf(pool) {
  return `${pool}${SPOT_PART}`;
}
export function isSpotPart(name) {
  return name.endsWith(SPOT_PART);
}
/** The name that people and daemons know: `cpu` of the part `cpu/spot`. */
export function poolOfPart(name) {
  return isSpotPart(name) ? name.slice(0, -SPOT_PART.length) : name;
}
