/** What coderd does with workspaces by itself (docs/internals/coder.md §10), beyond what recordings show. */
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { table } from '../../../../test/support/table.ts';
import type { NewTemplate } from '../../../world/coderd/tables/templates.ts';
import type { NewWorkspace } from '../../../world/coderd/tables/workspace-records.ts';
import { coderdWorld, DAY, HOUR, MINUTE, SECOND, START } from './coderd-fixture.ts';

type Row = {
  readonly workspace: Partial<NewWorkspace>;
  readonly template?: Partial<NewTemplate>;
  readonly because: string;
};

describe('a due transition', () => {
  const rows = table<Row & { readonly minute: number; readonly expected: string }>`
    workspace                                    | template                                 | minute | expected      | because
    ${{ running: true, ttlMs: 10 * MINUTE }}     |                                          | 11     | stop autostop | at its deadline itself a workspace is not stopped yet
    ${{ running: true, ttlMs: 10 * MINUTE - 1 }} |                                          | 10     | stop autostop | its deadline is past
    ${{ running: true }}                         | ${{ defaultTtlMs: 10 * MINUTE - 1 }}     | 10     | stop autostop | the ttl is that of the template unless it has one
    ${{ schedule: '10 8 * * *' }}                |                                          | 10     | start autostart | a start is due in its minute
    ${{ schedule: '0 8 * * *' }}                 |                                          | 1440   | start autostart | the first time after the last build counts
    ${{ schedule: '10 8 * * *', since: (START - 20 * DAY) as EpochMs }} |                   | 1      | start autostart | an overdue start is due
    ${{ schedule: '0 8 * * *' }}                 | ${{ autostartDays: ['thursday'] }}       | 4320   | start autostart | the template allows Thursdays only
    ${{ schedule: '5 8 * * *' }}                 | ${{ timeTilDormantMs: 4 * MINUTE }}      | 5      | start autostart | a start comes before dormancy
    ${{ running: true, ttlMs: 5 * MINUTE - 1 }}  | ${{ timeTilDormantMs: 4 * MINUTE }}      | 5      | stop autostop | the deadline comes before dormancy
    ${{ running: true }}                         | ${{ timeTilDormantMs: 10 * MINUTE }}     | 11     | stop dormancy | exactly the dormancy time is not yet longer
    ${{ running: true }}                         | ${{ timeTilDormantMs: 10 * MINUTE - 1 }} | 10     | stop dormancy | it was unused for longer than the dormancy time
    ${{ dormantAt: START }}                      | ${{ timeTilDormantAutodeleteMs: 10 * MINUTE }} | 11 | delete autodelete | deleting_at itself is not in the past
    ${{ dormantAt: START }}                      | ${{ timeTilDormantAutodeleteMs: 10 * MINUTE - 1 }} | 10 | delete autodelete | deleting_at is in the past
  `;
  it.each(rows)(
    'is "$expected" in minute $minute for $workspace: $because',
    ({ workspace, template, minute, expected }) => {
      const { onlooker, at, inserted, ...world } = coderdWorld();
      onlooker();
      const record = world.workspace(workspace, template);
      at(minute * MINUTE - 1);
      expect(inserted()).toEqual([]);
      at(minute * MINUTE);
      expect(inserted()).toHaveLength(1);
      const { transition, reason } = record.latestBuild;
      expect(`${transition} ${reason}`).toBe(expected);
      expect(record.dormantAt !== undefined).toBe(/dormancy|delete/.test(expected));
    },
  );

  const none: readonly Row[] = [
    { workspace: { running: true }, because: 'it has no deadline' },
    { workspace: { running: true, schedule: '5 8 * * *' }, because: 'it already runs' },
    {
      workspace: { schedule: '5 8 * * *' },
      template: { autostartDays: [] },
      because: 'the template allows no day',
    },
    { workspace: { schedule: '5 8 * * *', dormantAt: START }, because: 'it is dormant' },
    { workspace: { running: true, ttlMs: MINUTE, dormantAt: START }, because: 'it is dormant' },
    {
      workspace: { running: true, ttlMs: MINUTE, prebuilt: true },
      template: { timeTilDormantMs: MINUTE },
      because: 'prebuilt workspaces are left out',
    },
  ];
  it.each(none)('does not exist for $workspace: $because', ({ workspace, template }) => {
    const world = coderdWorld();
    world.onlooker();
    world.workspace(workspace, template);
    world.at(2 * DAY);
    expect(world.inserted()).toEqual([]);
  });

  it('is due by the whole minute, whenever and however often the executor runs', () => {
    const start = (START + 30 * SECOND) as EpochMs;
    const { model, at, onlooker, template, inserted } = coderdWorld({ start, autobuildPollMs: 5 * MINUTE });
    onlooker();
    for (const ttlMs of [4 * MINUTE + 29 * SECOND, 4 * MINUTE + 45 * SECOND])
      model.workspaces.add({ template: template(), running: true, ttlMs });
    at(20 * MINUTE);
    expect(inserted()).toEqual(['5 stop', '10 stop']);
  });
});

describe('failed builds', () => {
  function failing(
    transition: 'start' | 'stop' | 'delete',
    settings: Partial<NewTemplate>,
    workspace: Partial<NewWorkspace>,
    version: string,
  ) {
    const world = coderdWorld({ version });
    const connection = world.onlooker();
    const record = world.workspace({ running: transition !== 'start', ...workspace }, settings);
    connection.acquire(({ id }) => connection.complete(id, 'failed'));
    world.model.build(record, transition);
    return world;
  }

  const TTL = { failureTtlMs: 10 * MINUTE };
  type FailedRow = Partial<Row> & {
    readonly transition: 'start' | 'stop' | 'delete';
    readonly version: string;
    readonly after: string;
  };
  const failures = table<FailedRow>`
    transition | template                                  | workspace                       | version | after   | because
    start      | ${TTL}                                    |                                 | v2.36.0 | 11 stop | it is cleaned up
    start      | ${{ ...TTL, timeTilDormantMs: 4 * MINUTE }} |                               | v2.36.0 | 5 stop  | dormancy stops it earlier
    stop       | ${TTL}                                    |                                 | v2.36.0 | 11 stop | it is cleaned up
    stop       | ${TTL}                                    |                                 | v2.33.7 | nothing | this release lacks #26203
    stop       | ${TTL}                                    |                                 | v2.33.8 | 11 stop | this release has #26203
    stop       | ${TTL}                                    |                                 | v2.34.1 | nothing | this release lacks #26203
    delete     | ${TTL}                                    |                                 | v2.36.0 | nothing | a delete is not cleaned up
    start      | ${{}}                                     | ${{ ttlMs: MINUTE }}            | v2.36.0 | nothing | it has no deadline
    stop       | ${{}}                                     | ${{ schedule: '5 8 * * *' }}    | v2.36.0 | nothing | its workspace is not started
  `;
  it.each(failures)('of a $transition in $version are followed by $after: $because', (row) => {
    const { transition, template = {}, workspace = {}, version, after } = row;
    const { at, inserted } = failing(transition, template, workspace, version);
    at(20 * MINUTE);
    expect(inserted()).toEqual([`0 ${transition}`, ...(after === 'nothing' ? [] : [after])]);
  });

  it('of a delete are retried a day later', () => {
    const { at, model, worker, template, inserted } = coderdWorld();
    worker();
    const made = template({ timeTilDormantAutodeleteMs: MINUTE, buildMs: { delete: 30 * SECOND } });
    model.workspaces.add({ template: made, dormantAt: START, willFail: true });
    at(2 * DAY);
    expect(inserted()).toEqual(['2 delete', '1443 delete']);
  });
});

describe('the tags of a job', () => {
  it.each([
    {
      workspace: { ownTags: { region: 'eu' } },
      expected: { region: 'eu', pushed: 'yes' },
      because: 'its parameters add some',
    },
    { workspace: { keepsVersion: true }, expected: {}, because: 'its version stays' },
    {
      workspace: { keepsVersion: true },
      requireActiveVersion: true,
      expected: { pushed: 'yes' },
      because: 'the template requires the active version',
    },
  ])('are $expected, while the gate needs those of the active version: $because', (row) => {
    const { workspace: given, requireActiveVersion = false, expected } = row;
    const { at, onlooker, workspace, model } = coderdWorld();
    const { template } = workspace({ schedule: '5 8 * * *', ...given }, { requireActiveVersion });
    model.pushVersion(template, { pushed: 'yes' });
    onlooker();
    at(6 * MINUTE);
    expect(model.jobs()).toEqual([]);
    onlooker({ pushed: 'yes' });
    at(10 * MINUTE);
    expect(model.jobs()).toMatchObject([{ tags: { scope: 'organization', owner: '', ...expected } }]);
  });
});

describe('dormancy', () => {
  const template = { timeTilDormantMs: MINUTE, timeTilDormantAutodeleteMs: HOUR };

  it('only marks a stopped workspace, with the time of its deletion', () => {
    const { at, onlooker, workspace, inserted } = coderdWorld();
    onlooker();
    const record = workspace({}, template);
    at(3 * MINUTE);
    expect(inserted()).toEqual([]);
    expect(record).toMatchObject({ dormantAt: START + 2 * MINUTE, deletingAt: START + 2 * MINUTE + HOUR });
  });

  it('ends in deletion, after which the workspace is no longer listed', () => {
    const { at, worker, workspace, model, inserted } = coderdWorld();
    worker();
    workspace({ running: true }, template);
    at(61 * MINUTE);
    expect(model.workspaces.all()).toHaveLength(1);
    at(HOUR + 4 * MINUTE);
    expect(inserted()).toEqual(['2 stop', '63 delete']);
    expect(model.workspaces.all()).toEqual([]);
  });

  it.each([
    { daemonAt: 0, inserted: ['19 start'], because: 'that poll starts it, for a time since its stop' },
    { daemonAt: 19 * MINUTE, inserted: ['20 start'], because: 'the gate was closed at that poll' },
  ])('ends when its user activates the workspace, $inserted: $because', ({ daemonAt, inserted }) => {
    const { model, at, onlooker, workspace, ...world } = coderdWorld();
    const since = (START - DAY) as EpochMs;
    const record = workspace({ schedule: '20 8 * * *', since, dormantAt: START }, { tags: { env: 'a' } });
    at(18 * MINUTE + 30 * SECOND);
    model.workspaces.markActive(record.id);
    expect(record).toMatchObject({ dormantAt: undefined, nextStartAt: undefined });
    if (daemonAt > 0) at(daemonAt);
    onlooker({ env: 'a' });
    at(30 * MINUTE);
    expect(world.inserted()).toEqual(inserted);
  });
});

describe('the gate', () => {
  it('prevents every transition and mark while no daemon fits, then admits the whole backlog at once', () => {
    const { at, onlooker, template, model, inserted } = coderdWorld();
    const tagged = template({ tags: { env: 'a' }, timeTilDormantMs: HOUR });
    model.workspaces.add({ template: tagged, running: true, ttlMs: MINUTE });
    for (const minute of [1, 4, 8]) model.workspaces.add({ template: tagged, schedule: `${minute} 8 * * *` });
    const idle = model.workspaces.add({ template: tagged });
    onlooker();
    onlooker({ env: 'b' });
    onlooker({ env: 'a' }, 'data');
    at(120 * MINUTE);
    expect(inserted()).toEqual([]);
    expect(idle.dormantAt).toBeUndefined();
    onlooker({ env: 'a', dc: 'x' });
    at(121 * MINUTE);
    expect(inserted()).toEqual(['121 stop', '121 start', '121 start', '121 start']);
    expect(idle.dormantAt).toBeDefined();
  });

  it('is open for a stopped daemon for 90 s', () => {
    for (const [closedAt, expected] of [
      [30 * SECOND, ['2 start']],
      [30 * SECOND - 1, []],
    ] as const) {
      const { at, onlooker, workspace, inserted } = coderdWorld();
      at(closedAt);
      onlooker().close();
      workspace({ schedule: '2 8 * * *' });
      at(3 * MINUTE);
      expect(inserted()).toEqual(expected);
    }
  });
});

describe('activity of a user', () => {
  const rows = table<Row & { readonly afterMs: number; readonly deadlineMs: number | undefined }>`
    workspace                          | template                 | afterMs           | deadlineMs               | because
    ${{ ttlMs: HOUR }}                 |                          | ${HOUR / 2}       | ${1.5 * HOUR}            | it is an hour from now
    ${{ ttlMs: HOUR }}                 |                          | ${3 * MINUTE}     | ${HOUR}                  | it would move by no more than a twentieth of the bump
    ${{ ttlMs: HOUR }}                 |                          | ${3 * MINUTE + 1} | ${HOUR + 3 * MINUTE + 1} | it would move by more than that
    ${{ ttlMs: 9 * HOUR }}             |                          | ${HOUR}           | ${9 * HOUR}              | it never goes back
    ${{ ttlMs: HOUR }}                 | ${{ activityBumpMs: 0 }} | ${HOUR / 2}       | ${HOUR}                  | the template has no activity bump
    ${{ ttlMs: 2 * HOUR, schedule: '0 9 * * *' }} |               | ${HOUR / 2}       | ${3 * HOUR}              | it counts as an autostart at nine
    ${{ ttlMs: HOUR }}                 |                          | ${2 * HOUR}       | ${3 * HOUR}              | the deadline has passed while the gate was closed
    ${{ ttlMs: 0 }}                    |                          | ${HOUR / 2}       | ${undefined}             | it has no deadline
    ${{ ttlMs: HOUR, running: false }} |                          | ${HOUR / 2}       | ${HOUR}                  | the deadline of a stop stays
    ${{ ttlMs: HOUR, prebuilt: true }} |                          | ${HOUR / 2}       | ${undefined}             | prebuilt workspaces have no deadline
  `;
  it.each(rows)('leads to the deadline $deadlineMs ms: $because', ({ deadlineMs, afterMs, ...given }) => {
    const { model, at, ...world } = coderdWorld();
    const record = world.workspace({ running: true, ...given.workspace }, given.template);
    at(afterMs);
    model.workspaces.use(record.id);
    expect(record.lastUsedAt).toBe(START + afterMs);
    expect(record.latestBuild.deadline).toBe(deadlineMs === undefined ? undefined : START + deadlineMs);
  });
});

it('gives a preset as many prebuilt workspaces as it wants, those of the active version only', () => {
  const { model, at, worker, template, inserted } = coderdWorld();
  worker();
  const made = template();
  model.addPreset({ template: made, instances: 2 });
  at(5 * MINUTE);
  expect(inserted()).toEqual(['1 start', '1 start']);
  expect(model.workspaces.all()).toMatchObject([{ prebuilt: true }, { prebuilt: true }]);
  model.workspaces.remove(model.workspaces.all()[0]?.id ?? '');
  at(7 * MINUTE);
  expect(inserted()).toEqual(['1 start', '1 start', '6 start']);
  model.pushVersion(made, {});
  model.workspaces.remove(model.workspaces.all()[0]?.id ?? '');
  at(9 * MINUTE);
  expect(inserted()).toHaveLength(3);
});
