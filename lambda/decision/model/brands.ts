/** Branded types, instead of plain ones. Only schemas cast to those of strings and numbers. */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = Brand<number, 'EpochMs'>;
/** The name of a pool in the configuration: `[a-z0-9][a-z0-9-]*`, at most 30 characters. */
export type PoolName = Brand<string, 'PoolName'>;
/** The full ARN of an ECS task. */
export type TaskArn = Brand<string, 'TaskArn'>;
/** The full ARN of an ECS service. */
export type ServiceArn = Brand<string, 'ServiceArn'>;
/** The UUID of an organization in coderd. */
export type OrganizationId = Brand<string, 'OrganizationId'>;
/** The UUID of a provisioner job in coderd. */
export type JobId = Brand<string, 'JobId'>;
/** The UUID of a provisioner daemon in coderd. */
export type DaemonId = Brand<string, 'DaemonId'>;

/** The last part of an ARN: the id of a task, or the name of a service. */
export const lastPart = (arn: string): string => arn.slice(arn.lastIndexOf('/') + 1);

/** Adds milliseconds to a time. */
export const plusMs = (time: EpochMs, ms: number): EpochMs => (time + ms) as EpochMs;

/** Formats a time as the plan writes it: RFC 3339, UTC, with milliseconds. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** Names of pools have no slash, so no pool has the name of a part (settings/parts.ts). */
const SPOT_PART = '/spot';

/** The part on Spot of a pool with two kinds of capacity. */
export function spotPartOf<Name extends string>(pool: Name): Name {
  return `${pool}${SPOT_PART}` as Name;
}

export function isSpotPart(name: string): boolean {
  return name.endsWith(SPOT_PART);
}

/** The name that people and daemons know: `cpu` of the part `cpu/spot`. */
export function poolOfPart<Name extends string>(name: Name): Name {
  return (isSpotPart(name) ? name.slice(0, -SPOT_PART.length) : name) as Name;
}
