import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import { LogQueries, queryLines, queryNames } from '../../../infra/constructs/watching/log-queries.ts';
import { parseSnapshot } from '../../../lambda/adapters/snapshot-schema.ts';
import { checkConfig } from '../../../lambda/config/check.ts';
import { decide } from '../../../lambda/decision/decide.ts';
import type { EpochMs, JobId } from '../../../lambda/decision/model/brands.ts';
import { lookEvent } from '../../../lambda/look/look-event.ts';
import type { JobWait } from '../../../lambda/look/waits/job-wait.ts';
import { waitLine } from '../../../lambda/look/waits/wait-line.ts';
import { WAIT_PARTS } from '../../../lambda/look/waits/wait-parts.ts';
import { poolName } from '../../support/parts.ts';
import { draw } from '../../support/picture.ts';

/** A log event of a look with pending jobs, busy daemons, a drain request and an override. */
function anEvent(): unknown {
  const { snapshot: document, config } = draw({
    pools: { cpu: { tasks: 'B I9m', idleTimeout: '5m' }, gpu: { tasks: 'B', tags: { gpu: 'a' }, max: 1 } },
    pending: [{ tags: { gpu: 'a' } }, { tags: { tpu: 'x' } }],
  });
  for (const job of document.coder.organizations.flatMap(({ jobs }) => jobs.items))
    if (job.status === 'running') job.started_at = job.created_at;
  const snapshot = parseSnapshot(document);
  const plan = decide(snapshot, checkConfig(config).config);
  const override = { kind: 'pin', count: 1, until: plan.takenAt, by: 'me', why: 'test' } as const;
  const pools = plan.pools.map((pool) => ({ ...pool, overrides: [override] }));
  const refused = plan.actions.flatMap((action) =>
    action.kind === 'ask-to-leave' ? [{ pool: action.pool, task: action.task, reason: 'MISSING' }] : [],
  );
  const outcome = { applied: plan.actions, refused, failures: [] };
  const raise = {
    kind: 'set-desired',
    pool: 'gpu',
    service: 'arn',
    from: 1,
    to: 2,
    why: 'pending-jobs',
  } as unknown as (typeof plan.actions)[number];
  const result = {
    snapshot,
    plan: {
      ...plan,
      pools,
      actions: [...plan.actions, raise],
      findings: [{ code: 'version-unknown' } as const],
    },
    outcome,
    failures: [{ message: 'no' }],
    promises: (): never => {
      throw new Error('an event of a look has no promises');
    },
  };
  const event = lookEvent({ result, calls: { coderd: { requests: 1, throttled: 0 } }, durationMs: 1 });
  return JSON.parse(JSON.stringify({ message: 'look', service: 'Coder', ...event }));
}

/** A log event of a job that waited for each part. */
function aWait(): object {
  const parts = Object.fromEntries(WAIT_PARTS.map((part, index) => [part, index + 1]));
  const wait: JobWait = {
    id: 'job' as JobId,
    organization: 'default',
    pool: poolName('cpu'),
    task: 'task',
    type: 'workspace_build',
    createdAt: 0 as EpochMs,
    startedAt: 55 as EpochMs,
    waitMs: 55,
    parts,
  };
  return { message: 'wait', service: 'Coder', ...waitLine(wait) };
}

const WORDS =
  /^(filter|fields|as|unnest|into|stats|by|sort|desc|asc|display|limit|and|or|not|in|like|avg|max|min|sum|count|latest|bin|coalesce|ispresent|jsonParse|\d+[mh]?)$/;

/** The names in a command, without keywords and texts. */
function namesIn(command: string): readonly string[] {
  return [...command.replaceAll(/"[^"]*"/g, '').matchAll(/[@\w]+(?:\.\w+)*/g)]
    .map(([name]) => name)
    .filter((name) => !WORDS.test(name));
}

type Scope = ReadonlyMap<string, readonly unknown[]>;

/** The values of all records at a path like `pool.startP50Seconds`. */
function valuesAt(scope: Scope, name: string): readonly unknown[] {
  const [first = '', ...rest] = name.split('.');
  return rest.reduce<readonly unknown[]>(
    (values, key) =>
      values.flatMap((value) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? [(value as Readonly<Record<string, unknown>>)[key]]
          : [],
      ),
    scope.get(first) ?? [],
  );
}

/** The names of a query that neither the event nor an earlier command defines. */
function unknownNames(commands: readonly string[], event: object): readonly string[] {
  const start: [string, readonly unknown[]][] = Object.entries(event).map(([name, value]) => [name, [value]]);
  const scope = new Map<string, readonly unknown[]>([
    ...start,
    ['@message', [event]],
    ['@timestamp', ['now']],
  ]);
  return commands.flatMap((command) => {
    const [, list, item] = /^unnest (\S+) into (\S+)$/.exec(command) ?? [];
    if (list !== undefined && item !== undefined) scope.set(item, valuesAt(scope, list).flat());
    for (const [, alias = ''] of command.matchAll(/ as (\w+)/g))
      scope.set(alias, alias === 'look' ? [event] : ['a value']);
    return namesIn(command).filter((name) => valuesAt(scope, name).length === 0);
  });
}

describe('the saved queries', () => {
  const event = anEvent() as object;

  it('take all parts of a wait from one event of the job', () => {
    const commands = queryNames.flatMap((name) => queryLines(name, 'Coder'));
    const perJob = commands.filter((command) => / by id\b/.test(command));
    expect(perJob).toHaveLength(2);
    for (const command of perJob) expect(command).not.toMatch(/\b(max|min|sum|avg)\(/);
  });

  it.each(queryNames)('%s uses only fields of its event', (name) => {
    const lines = queryLines(name, 'Coder');
    expect(unknownNames(lines, lines[0]?.includes('"wait"') ? aWait() : event)).toEqual([]);
  });

  it('fail the check if they use an unknown field', () => {
    const [lookFilter = '', parse = ''] = queryLines('findings', 'Coder');
    const wrong = [
      lookFilter,
      parse,
      'unnest look.pools into pool',
      'stats max(pool.size) as most by nothing',
    ];
    expect(unknownNames(wrong, event)).toEqual(['pool.size', 'nothing']);
  });

  it('are in a folder of the stack and use the log group of the function', () => {
    const stack = new Stack(new App(), 'Coder');
    new LogQueries(stack, 'Queries', { logGroup: new LogGroup(stack, 'Logs') });
    const found = Object.values(Template.fromStack(stack).findResources('AWS::Logs::QueryDefinition'));
    expect(found).toHaveLength(queryNames.length);
    for (const { Properties } of found) {
      expect(Properties.Name).toMatch(/^coder-provisioner-autoscaler\/Coder\/\w/);
      expect(Properties.LogGroupNames).toEqual([{ Ref: expect.stringMatching(/^Logs/) }]);
      expect(Properties.QueryString).toMatch(
        /^filter message = "(look" and service = "Coder"\n\| fields jsonParse\(@message\) as look|wait" and service = "Coder"\n\| fields .*\n\| stats .* by id, pool)\n\| /,
      );
    }
  });
});
