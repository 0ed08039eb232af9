/** Lengths of time in milliseconds. Fields and constants in another unit have it in their name. */
export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** An average month, as AWS bills it. */
export const MONTH_HOURS = 730;
export const MONTH_MS = MONTH_HOURS * HOUR_MS;
/** A shorter history says nothing about a month. */
export const SHORTEST_FOR_MONTH_MS = 2 * DAY_MS;

/** What the adapters ask for with one request, by which look-again.ts counts requests. A URL with 100 ids has under 4 KB. */
export const JOBS_A_REQUEST = 100;
/** docs/internals/aws.md §2 */
export const SERVICES_A_CALL = 10;
export const TASKS_A_CALL = 100;
/** With more services than this, lists of the whole cluster take fewer calls in a shared cluster too. */
export const MANY_SERVICES = 20;
