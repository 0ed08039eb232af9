import { Stack } from 'aws-cdk-lib';
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { WAIT_PARTS } from '../../../lambda/look/waits/wait-parts.ts';

/**
 * Saved queries of Logs Insights on the function's events of looks (lambda/look/look-event.ts) and
 * of started jobs. Their folder is named after the stack.
 */
export class LogQueries extends Construct {
  /** @param logGroup the log group of the function */
  constructor(scope: Construct, id: string, { logGroup }: { readonly logGroup: ILogGroup }) {
    super(scope, id);
    const { stackName } = Stack.of(this);
    const folder = `coder-provisioner-autoscaler/${stackName}`;
    // CDK's L2 construct QueryDefinition does not support `unnest`.
    for (const name of queryNames)
      new CfnQueryDefinition(this, idOf(name), {
        name: `${folder}/${name}`,
        queryString: queryLines(name, stackName).join('\n| '),
        logGroupNames: [logGroup.logGroupName],
      });
  }
}

/** The construct id of a query, such as `WhoWaitsAndSinceWhen`. */
function idOf(name: string): string {
  return name.replaceAll(/(?:^|\W+)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The queries parse the message, because a look event has too many fields for CloudWatch to
 * discover them all. Later commands can read the result of `jsonParse`. `unnest` makes one record
 * of each list item (CloudWatch Logs, "unnest" and "jsonParse").
 */
const LOOKS = ['fields jsonParse(@message) as look'];
const POOLS = [...LOOKS, 'unnest look.pools into pool'];
const GROUPS = [...LOOKS, 'unnest look.groups into tagGroup'];

/** The commands of each query, by name. `queryLines` puts the filter for look events before them. */
const QUERIES = {
  'who waits and since when': [
    ...GROUPS,
    'filter tagGroup.pending > 0',
    'sort @timestamp desc, tagGroup.oldestSeconds desc',
    'display @timestamp, tagGroup.organization, tagGroup.tags, tagGroup.pending, tagGroup.since, tagGroup.oldestSeconds, tagGroup.served, tagGroup.pools',
    'limit 200',
  ],
  'pools as seen last': [
    ...POOLS,
    'stats latest(pool.desiredTo) as desired, latest(pool.busy) as busy, latest(pool.idle) as idle, latest(pool.starting) as starting, latest(pool.leaving) as leaving, latest(pool.startP95Seconds) as startP95Seconds, latest(pool.retiring) as retiring by pool.name as name',
    'sort name asc',
  ],
  'time to start by pool': [
    ...POOLS,
    'filter pool.startSamples > 0',
    'stats avg(pool.startP50Seconds) as p50Seconds, max(pool.startP95Seconds) as p95Seconds, max(pool.failing) as failedStarts by bin(1h) as hour, pool.name as name',
    'sort hour desc, name asc',
  ],
  'queue wait by tag group': [
    ...GROUPS,
    'filter ispresent(tagGroup.queueWaitP95Seconds)',
    'stats avg(tagGroup.queueWaitP50Seconds) as p50Seconds, max(tagGroup.queueWaitP95Seconds) as p95Seconds, max(tagGroup.running) as running by bin(1h) as hour, tagGroup.organization as organization, tagGroup.tags as tags',
    'sort hour desc, p95Seconds desc',
  ],
  'calls and throttles by API': [
    ...LOOKS,
    'unnest look.calls into call',
    'stats sum(call.requests) as requests, sum(call.throttled) as throttled, max(look.durationMs) as slowestLookMs by bin(10m) as since, call.api as api',
    'sort since desc, api asc',
  ],
  'asks and leaves': [
    ...POOLS,
    'stats sum(pool.asks) as asks, max(pool.leaving) as leaving, max(pool.left) as gone, max(pool.unguarded) as unguarded, sum(pool.launches) as launches by bin(10m) as since, pool.name as name',
    'filter asks + leaving + gone + unguarded > 0',
    'sort since desc, name asc',
  ],
  'what was done and what ECS refused': [
    ...LOOKS,
    'unnest look.actions into action',
    'sort @timestamp desc',
    'display @timestamp, action.pool, action.kind, action.from, action.to, action.task, action.why, action.outcome, action.reason',
    'limit 200',
  ],
  failures: [
    ...LOOKS,
    'unnest look.failures into failure',
    'stats count(*) as looks, min(@timestamp) as firstSeen, max(@timestamp) as lastSeen by failure',
    'sort lastSeen desc',
  ],
  findings: [
    ...LOOKS,
    'unnest look.findings into finding',
    'stats count(*) as looks, min(@timestamp) as firstSeen, max(@timestamp) as lastSeen by finding',
    'sort lastSeen desc',
  ],
  'what an override did': [
    ...POOLS,
    'unnest pool.overrides into override',
    'sort @timestamp desc',
    'display @timestamp, pool.name, override.kind, override.count, override.by, override.why, override.until, pool.pending, pool.desiredFrom, pool.desiredTo, pool.busy, pool.idle, pool.leaving',
    'limit 200',
  ],
  'cost in task hours by pool': [
    ...POOLS,
    // Looks come every 10 or every 60 seconds. Averages over five minutes give each period equal
    // weight.
    'stats avg(pool.tasks) as tasks by bin(5m) as since, pool.name as name',
    'stats sum(tasks) / 12 as taskHours, max(tasks) as most by name',
    'sort taskHours desc',
  ],
} satisfies Readonly<Record<string, readonly string[]>>;

const WAIT_NAMES = ['wait', ...WAIT_PARTS];

/**
 * Two processes may log the same start and split its wait differently, so the first commands keep
 * one event of each job: parts of both would not add up. These events are flat, and CloudWatch
 * discovers their fields.
 */
const WAITS = [
  `fields ${WAIT_NAMES.map((name) => `coalesce(${name}Ms, 0) as ${name}OrZero`).join(', ')}`,
  `stats ${WAIT_NAMES.map((name) => `latest(${name}OrZero) as ${name}`).join(', ')}, latest(@timestamp) as at by id, pool`,
];

/** As `QUERIES`, on the events of started jobs (lambda/look/waits/wait-line.ts). */
const WAIT_QUERIES = {
  'where the waits went by pool': [
    ...WAITS,
    `stats count(*) as jobs, sum(wait) / 1000 as waitSeconds, ${WAIT_PARTS.map(
      (part) => `sum(${part}) / 1000 as ${part}Seconds`,
    ).join(', ')} by pool`,
    'sort waitSeconds desc',
  ],
  'the longest waits': [...WAITS, 'sort wait desc', 'limit 50'],
} satisfies Readonly<Record<string, readonly string[]>>;

export type QueryName = keyof typeof QUERIES | keyof typeof WAIT_QUERIES;

export const queryNames = [...Object.keys(QUERIES), ...Object.keys(WAIT_QUERIES)] as readonly QueryName[];

/**
 * The commands of a query on the events of one deployment. Other deployments may use the same
 * log group, so the query filters by `service`, the value of the metrics' dimension.
 */
export function queryLines(name: QueryName, service: string): readonly string[] {
  const lines = (message: string): string => `filter message = "${message}" and service = "${service}"`;
  return isOnWaits(name) ? [lines('wait'), ...WAIT_QUERIES[name]] : [lines('look'), ...QUERIES[name]];
}

function isOnWaits(name: QueryName): name is keyof typeof WAIT_QUERIES {
  return Object.hasOwn(WAIT_QUERIES, name);
}
