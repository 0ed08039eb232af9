import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { IS_FULL } from '../../../../test/support/runs.ts';
import { table } from '../../../../test/support/table.ts';
import type { NewTemplate } from '../../../world/coderd/tables/templates.ts';
import type { NewWorkspace } from '../../../world/coderd/tables/workspace-records.ts';
import { coderdWorld, DAY, HOUR, MINUTE, SECOND, START } from './coderd-workspaces-fixture.ts';

const EVER = 100 * DAY;

describe('a due transition', () => {
  type DueRow = {
    readonly workspace: Partial<NewWorkspace>;
    readonly template?: Partial<NewTemplate>;
    readonly minute: number;
    readonly expected: string;
    readonly because: string;
  };
  const rows = table<DueRow>`
    workspace                                | template                              | minute | expected        | because
    ${{ running: true, ttlMs: 10 * MINUTE }} |                                       | 11     | stop autostop   | at its deadline itself a workspace is not stopped yet
    ${{ running: true, ttlMs: 10 * MINUTE - 1 }} |                                       | 10     | stop autostop   | its deadline is past
    ${{ running: true, ttlMs: 30 * MINUTE }} | ${{ maxLifetimeMs: 10 * MINUTE - 1 }} | 10     | stop autostop   | no deadline goes beyond the maximum
    ${{ running: true }}                     | ${{ maxLifetimeMs: 10 * MINUTE - 1 }} | 10     | stop autostop   | the maximum holds without a ttl too
    ${{ running: true }}                     | ${{ defaultTtlMs: 10 * MINUTE - 1 }}  | 10     | stop autostop   | the ttl is that of the template unless it has one
    ${{ schedule: '10 8 * * *' }}            |                                       | 10     | start autostart | a start is due in its minute
    ${{ schedule: '0 8 * * *' }}             |                                       | 1440   | start autostart | the first time after the last build counts
    ${{ schedule: '10 8 * * *', since: (START - 20 * DAY) as EpochMs }} |                                       | 1      | start autostart | an overdue start is due
    ${{ schedule: '0 8 * * *' }}             | ${{ autostartDays: ['thursday'] }}    | 4320   | start autostart | the template allows Thursdays only
    ${{ running: true }}                     | ${{ timeTilDormantMs: 10 * MINUTE }}  | 11     | stop dormancy   | exactly the dormancy time is not yet longer
    ${{ running: true }}                     | ${{ timeTilDormantMs: 10 * MINUTE - 1 }} | 10     | stop dormancy   | it was unused for longer than the dormancy time
    ${{ dormantAt: START }}                  | ${{ timeTilDormantAutodeleteMs: 10 * MINUTE }} | 11     | delete autodelete | deleting_at itself is not in the past
    ${{ dormantAt: START }}                  | ${{ timeTilDormantAutodeleteMs: 10 * MINUTE - 1 }} | 10     | delete autodelete | deleting_at is in the past
  `;
  it.each(rows)(
    'is "$expected" in minute $minute for $workspace of $template: $because',
    ({ workspace, template, minute, expected }) => {
      const { onlooker, at, inserted, ...world } = coderdWorld();
      onlooker();
      const record = world.workspace(workspace, template);
      at(minute * MINUTE - 1);
      expect(inserted()).toEqual([]);
      at(minute * MINUTE);
      expect(inserted()).toHaveLength(1);
      const { transition, reason, number } = record.latestBuild;
      expect([`${transition} ${reason}`, number]).toEqual([expected, 2]);
    },
  );

  it('is due by the whole minute, rounded down, whenever the executor ticks in that minute', () => {
    const { model, at, onlooker, template, inserted } = coderdWorld({
      start: (START + 30 * SECOND) as EpochMs,
    });
    onlooker();
    for (const ttlMs of [9 * MINUTE + 29 * SECOND, 9 * MINUTE + 45 * SECOND])
      model.workspaces.add({ template: template(), running: true, ttlMs });
    at(20 * MINUTE);
    expect(inserted()).toEqual(['10 stop', '11 stop']);
  });
});

describe('the poll interval', () => {
  it('sets when the executor runs, which still counts in whole minutes', () => {
    const { at, onlooker, workspace, inserted } = coderdWorld({ autobuildPollMs: 5 * MINUTE });
    onlooker();
    workspace({ schedule: '1 8 * * *' });
    workspace({ running: true, ttlMs: 5 * MINUTE - 1 });
    workspace({ running: true, ttlMs: 5 * MINUTE });
    at(15 * MINUTE);
    expect(inserted()).toEqual(['5 start', '5 stop', '10 stop']);
  });
});

describe('a workspace without a due transition', () => {
  const rows: readonly {
    readonly workspace: Partial<NewWorkspace>;
    readonly template?: Partial<NewTemplate>;
    readonly because: string;
  }[] = [
    { workspace: { running: true }, because: 'it has no deadline' },
    { workspace: {}, because: 'it has no schedule' },
    { workspace: { running: true, schedule: '5 8 * * *' }, because: 'it already runs' },
    {
      workspace: { schedule: '5 8 * * *' },
      template: { allowUserAutostart: false },
      because: 'the template forbids autostart',
    },
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
    { workspace: { dormantAt: START }, because: 'it has no deletion time' },
  ];
  it.each(rows)('gets no build as $workspace of $template: $because', ({ workspace, template }) => {
    const world = coderdWorld();
    world.onlooker();
    world.workspace(workspace, template);
    world.at(2 * DAY);
    expect(world.inserted()).toEqual([]);
  });
});

describe('failed builds', () => {
  function failing(
    transition: 'start' | 'stop' | 'delete',
    settings: Partial<NewTemplate>,
    workspace: Partial<NewWorkspace> = {},
    version = 'v2.36.0',
  ) {
    const world = coderdWorld({ version });
    const connection = world.onlooker();
    const record = world.workspace({ running: transition !== 'start', ...workspace }, settings);
    connection.acquire(({ id }) => connection.complete(id, 'failed'));
    world.model.build(record, transition);
    return { ...world, record };
  }

  it.each(['start', 'stop'] as const)(
    'of a %s are followed by a stop after the failure TTL',
    (transition) => {
      const { at, inserted, record } = failing(transition, { failureTtlMs: 10 * MINUTE });
      at(10 * MINUTE);
      expect(inserted()).toEqual([`0 ${transition}`]);
      at(20 * MINUTE);
      expect(inserted()).toEqual([`0 ${transition}`, '11 stop']);
      expect(record.latestBuild.reason).toBe('autostop');
    },
  );

  it.each([
    { version: 'v2.32.9', inserted: 1 },
    { version: 'v2.33.7', inserted: 1 },
    { version: 'v2.33.8', inserted: 2 },
    { version: 'v2.34.0', inserted: 1 },
    { version: 'v2.34.2+3006da5', inserted: 2 },
    { version: 'v2.35.0', inserted: 2 },
  ])('of a stop are not cleaned up before #26203: $version', ({ version, inserted }) => {
    const failed = failing('stop', { failureTtlMs: 10 * MINUTE }, {}, version);
    failed.at(20 * MINUTE);
    expect(failed.inserted()).toHaveLength(inserted);
  });

  it('of a delete are not cleaned up', () => {
    const { at, inserted } = failing('delete', { failureTtlMs: 10 * MINUTE });
    at(DAY);
    expect(inserted()).toEqual(['0 delete']);
  });

  it.each([
    { transition: 'start', workspace: { ttlMs: MINUTE }, because: 'it has no deadline' },
    {
      transition: 'stop',
      workspace: { schedule: '5 8 * * *' },
      because: 'coderd does not start a workspace whose build failed',
    },
  ] as const)(
    'of a $transition are not followed by a build without a failure TTL: $because',
    ({ transition, workspace }) => {
      const { at, inserted } = failing(transition, {}, workspace);
      at(8 * DAY);
      expect(inserted()).toEqual([`0 ${transition}`]);
    },
  );

  it('of a delete are retried a day later', () => {
    const { at, model, worker, template, inserted } = coderdWorld();
    worker();
    const made = template({ timeTilDormantAutodeleteMs: MINUTE, buildMs: { delete: 30 * SECOND } });
    model.workspaces.add({ template: made, dormantAt: START, willFail: true });
    at(2 * MINUTE + 30 * SECOND + DAY);
    expect(inserted()).toEqual(['2 delete']);
    at(2 * DAY);
    expect(inserted()).toEqual(['2 delete', '1443 delete']);
  });
});

describe('the status of an owner', () => {
  it('stops only the workspaces of a suspended user at once', () => {
    const { at, onlooker, workspace, model, inserted } = coderdWorld();
    onlooker();
    const owner = model.addUser();
    const record = workspace({ running: true, ttlMs: EVER, owner });
    workspace({ running: true, ttlMs: EVER });
    at(5 * MINUTE);
    model.setUserStatus(owner, 'suspended');
    at(20 * MINUTE);
    expect(inserted()).toEqual(['6 stop']);
    expect(record.latestBuild).toMatchObject({ reason: 'autostop', job: { initiatorId: owner.id } });
  });

  it('stops a workspace of a suspended user within a minute of its start', () => {
    const { model, at, onlooker, template, inserted } = coderdWorld({
      start: (START + 30 * SECOND) as EpochMs,
    });
    onlooker();
    const owner = model.addUser({ status: 'suspended' });
    model.workspaces.add({ template: template(), running: true, ttlMs: EVER, owner });
    model.tick((START + 40 * SECOND) as EpochMs);
    at(10 * SECOND);
    expect(inserted()).toEqual(['0 stop']);
  });

  it('stops no workspace of a dormant user before its deadline', () => {
    const { at, onlooker, workspace, model, inserted } = coderdWorld();
    onlooker();
    workspace({ running: true, ttlMs: 10 * MINUTE, owner: model.addUser({ status: 'dormant' }) });
    at(12 * MINUTE);
    expect(inserted()).toEqual(['11 stop']);
  });

  it.each(['suspended', 'dormant'] as const)('prevents autostarts of a %s user', (status) => {
    const { at, onlooker, workspace, model, inserted } = coderdWorld();
    onlooker();
    const owner = model.addUser({ status });
    workspace({ schedule: '5 8 * * *', owner });
    at(10 * MINUTE);
    expect(inserted()).toEqual([]);
    model.setUserStatus(owner, 'active');
    at(12 * MINUTE);
    expect(inserted()).toEqual(['11 start']);
  });

  it('does not stop a workspace whose start has failed', () => {
    const { at, onlooker, workspace, model, inserted } = coderdWorld();
    const connection = onlooker();
    connection.acquire(({ id }) => connection.complete(id, 'failed'));
    model.build(workspace({ owner: model.addUser({ status: 'suspended' }) }), 'start');
    at(DAY);
    expect(inserted()).toEqual(['0 start']);
  });
});

describe('a build that cannot be inserted', () => {
  it('leaves no job and no mark, however often coderd tries', () => {
    const { at, onlooker, workspace, inserted } = coderdWorld();
    onlooker();
    const record = workspace({ running: true, refusesBuilds: true }, { timeTilDormantMs: 10 * MINUTE });
    at(HOUR);
    expect(inserted()).toEqual([]);
    expect(record.dormantAt).toBeUndefined();
  });
});

describe('the tags of a job', () => {
  it('are those of its version plus those of its parameters, while the gate needs only the former', () => {
    const { at, onlooker, workspace, model, inserted } = coderdWorld();
    onlooker();
    workspace({ schedule: '5 8 * * *', ownTags: { region: 'eu' } });
    at(10 * MINUTE);
    expect(inserted()).toEqual(['5 start']);
    expect(model.jobs().at(-1)?.tags).toEqual({ scope: 'organization', owner: '', region: 'eu' });
  });

  it.each([
    { requireActiveVersion: false, expected: {} },
    { requireActiveVersion: true, expected: { pushed: 'yes' } },
  ])('are of the active version only if the template requires it: $requireActiveVersion', (row) => {
    const { at, onlooker, workspace, model } = coderdWorld();
    onlooker({ pushed: 'yes' });
    const { template } = workspace(
      { schedule: '5 8 * * *', keepsVersion: true },
      { requireActiveVersion: row.requireActiveVersion },
    );
    model.pushVersion(template, { pushed: 'yes' });
    at(10 * MINUTE);
    expect(model.jobs().at(-1)?.tags).toEqual({ scope: 'organization', owner: '', ...row.expected });
  });
});

describe('precedence', () => {
  it('prefers the deadline to dormancy, and does not mark the workspace', () => {
    const { at, onlooker, workspace } = coderdWorld();
    onlooker();
    const record = workspace({ running: true, ttlMs: 5 * MINUTE - 1 }, { timeTilDormantMs: 4 * MINUTE });
    at(5 * MINUTE);
    expect(record).toMatchObject({ latestBuild: { reason: 'autostop' }, dormantAt: undefined });
  });

  it('prefers a start to dormancy', () => {
    const { at, onlooker, workspace } = coderdWorld();
    onlooker();
    const record = workspace({ schedule: '5 8 * * *' }, { timeTilDormantMs: 4 * MINUTE });
    at(5 * MINUTE);
    expect(record).toMatchObject({ latestBuild: { reason: 'autostart' }, dormantAt: undefined });
  });

  it('prefers a cleanup to dormancy', () => {
    const { at, onlooker, workspace, model } = coderdWorld();
    const connection = onlooker();
    connection.acquire(({ id }) => connection.complete(id, 'failed'));
    const record = workspace({}, { timeTilDormantMs: 4 * MINUTE, failureTtlMs: 4 * MINUTE });
    model.build(record, 'start');
    at(5 * MINUTE);
    expect(record).toMatchObject({ latestBuild: { reason: 'autostop' }, dormantAt: undefined });
  });
});

describe('dormancy', () => {
  it('only marks a stopped workspace, with the time of its deletion', () => {
    const { at, onlooker, workspace, inserted } = coderdWorld();
    onlooker();
    const template = { timeTilDormantMs: MINUTE, timeTilDormantAutodeleteMs: HOUR };
    const record = workspace({}, template);
    at(3 * MINUTE);
    expect(inserted()).toEqual([]);
    expect(record).toMatchObject({
      dormantAt: START + 2 * MINUTE,
      deletingAt: START + 2 * MINUTE + HOUR,
      latestBuild: { number: 1 },
    });
  });

  it('ends in deletion, after which the workspace is no longer listed', () => {
    const { at, worker, workspace, model, inserted } = coderdWorld();
    worker();
    workspace({ running: true }, { timeTilDormantMs: MINUTE, timeTilDormantAutodeleteMs: HOUR });
    at(61 * MINUTE);
    expect(model.workspaces.all()).toHaveLength(1);
    at(HOUR + 4 * MINUTE);
    expect(inserted()).toEqual(['2 stop', '63 delete']);
    expect(model.workspaces.all()).toEqual([]);
  });
});

describe('a dormant workspace that its user activates', () => {
  /**
   * A workspace that its user activates 1.5 min before its next start at 8:20. Its stop was on the
   * day before.
   */
  function woken(template: Partial<NewTemplate> = {}) {
    const world = coderdWorld();
    const since = (START - DAY) as EpochMs;
    const schedule = '20 8 * * *';
    const record = world.workspace(
      { schedule, since, dormantAt: START },
      { tags: { env: 'a' }, ...template },
    );
    world.at(18 * MINUTE + 30 * SECOND);
    world.model.workspaces.markActive(record.id);
    return { ...world, record };
  }

  it('has no next start until the executor has run', () => {
    const { at, record } = woken();
    expect(record).toMatchObject({ dormantAt: undefined, nextStartAt: undefined });
    at(19 * MINUTE);
    expect(record.nextStartAt).toBe(START + 20 * MINUTE);
  });

  it('starts at that poll, for a time since its stop, if the gate is open', () => {
    const { at, onlooker, inserted } = woken();
    onlooker({ env: 'a' });
    at(30 * MINUTE);
    expect(inserted()).toEqual(['19 start']);
  });

  it('starts at its next scheduled time if the gate is closed', () => {
    const { at, onlooker, inserted } = woken();
    at(19 * MINUTE);
    onlooker({ env: 'a' });
    at(30 * MINUTE);
    expect(inserted()).toEqual(['20 start']);
  });

  it('never has a next start if the template allows no day', () => {
    const { at, onlooker, record, inserted } = woken({ autostartDays: [] });
    onlooker({ env: 'a' });
    at(DAY);
    expect(record.nextStartAt).toBeUndefined();
    expect(inserted()).toEqual([]);
  });
});

describe('a build that has not ended', () => {
  it('delays the next build', () => {
    const { at, onlooker, workspace, model, inserted } = coderdWorld();
    onlooker();
    const record = workspace({ running: true, schedule: '5 8 * * *' });
    model.build(record, 'stop');
    at(10 * MINUTE);
    expect(inserted()).toEqual(['0 stop']);
    expect(() => model.build(record, 'start')).toThrow('A workspace build is already active.');
  });
});

describe('the gate', () => {
  it('prevents every transition and mark while no daemon fits', () => {
    const { at, onlooker, workspace, template, model, inserted } = coderdWorld();
    const tagged = template({ tags: { env: 'a' }, timeTilDormantMs: HOUR });
    model.workspaces.add({ template: tagged, running: true, ttlMs: MINUTE });
    const idle = model.workspaces.add({ template: tagged });
    workspace({ dormantAt: START }, { tags: { env: 'a' }, timeTilDormantAutodeleteMs: MINUTE });
    onlooker();
    onlooker({ env: 'b' });
    onlooker({ env: 'a' }, 'data');
    at(120 * MINUTE);
    expect(inserted()).toEqual([]);
    expect(idle.dormantAt).toBeUndefined();
  });

  it('admits the whole backlog at the first tick after a fitting daemon was seen', () => {
    const { at, onlooker, template, model, inserted } = coderdWorld();
    const made = template({ tags: { env: 'a' } });
    for (const minute of [0, 3, 7, 20])
      model.workspaces.add({ template: made, schedule: `${minute + 1} 8 * * *` });
    at(10 * MINUTE + 1);
    onlooker({ env: 'a', dc: 'x' });
    expect(inserted()).toEqual([]);
    at(11 * MINUTE);
    expect(inserted()).toEqual(['11 start', '11 start', '11 start']);
    at(22 * MINUTE);
    expect(inserted()).toHaveLength(4);
  });

  it('is open for a stopped daemon that was seen at most 90 s ago', () => {
    const { at, onlooker, workspace, inserted } = coderdWorld();
    at(30 * SECOND);
    onlooker().close();
    workspace({ schedule: '2 8 * * *' });
    at(2 * MINUTE);
    expect(inserted()).toEqual(['2 start']);
  });

  it('is closed for a daemon that was seen longer ago', () => {
    const { at, onlooker, workspace, inserted } = coderdWorld();
    at(30 * SECOND - 1);
    onlooker().close();
    workspace({ schedule: '2 8 * * *' });
    at(3 * MINUTE);
    expect(inserted()).toEqual([]);
  });

  it('does not exist before 2.26', () => {
    const { at, workspace, inserted } = coderdWorld({ version: 'v2.25.3' });
    workspace({ schedule: '1 8 * * *' });
    at(MINUTE);
    expect(inserted()).toEqual(['1 start']);
  });

  it('does not apply to builds of people and prebuilds', () => {
    const { model, workspace, inserted } = coderdWorld();
    model.build(workspace(), 'start');
    model.submitJob({ organization: 'default', tags: {}, durationMs: 1 });
    expect(inserted()).toEqual(['0 start', '0 start']);
  });

  it.each([
    { keepsVersion: false, tags: { env: 'b' }, because: 'the workspace builds the active version' },
    { keepsVersion: true, tags: { env: 'a' }, because: 'the workspace builds its own version' },
  ])('needs the tags of the active version: $because', ({ keepsVersion, tags }) => {
    const { at, onlooker, template, model } = coderdWorld();
    const made = template({ tags: { env: 'a' } });
    model.workspaces.add({ template: made, schedule: '1 8 * * *', keepsVersion });
    model.pushVersion(made, { env: 'b' });
    onlooker({ env: 'a' });
    at(2 * MINUTE);
    expect(model.jobs()).toEqual([]);
    onlooker({ env: 'b' });
    at(3 * MINUTE);
    expect(model.jobs()).toMatchObject([{ tags }]);
  });

  it('is separate for each tag set', () => {
    const { at, onlooker, workspace, model } = coderdWorld();
    for (const tags of [{}, { env: 'a' }, { env: 'b' }]) workspace({ schedule: '1 8 * * *' }, { tags });
    onlooker({ env: 'a' });
    at(MINUTE);
    expect(model.jobs()).toMatchObject([{ tags: { env: 'a' } }]);
  });

  it('is separate for each organization', () => {
    const { at, onlooker, template, model } = coderdWorld();
    for (const organization of ['default', 'data'])
      model.workspaces.add({ template: template({ organization }), schedule: '1 8 * * *' });
    onlooker({}, 'data');
    at(2 * MINUTE);
    expect(model.jobs()).toMatchObject([{ organizationId: model.organizationId('data') }]);
  });
});

describe('autostarts at scale', () => {
  it('insert 200 jobs of 200 workspaces at one tick', () => {
    const { at, onlooker, template, model } = coderdWorld();
    onlooker();
    const made = template();
    for (let n = 0; n < 200; n++) model.workspaces.add({ template: made, schedule: '0 9 * * 1-5' });
    at(HOUR - 1);
    expect(model.jobs()).toEqual([]);
    at(HOUR);
    expect(model.jobs().map(({ workspace }) => workspace?.id)).toEqual(
      model.workspaces.all().map(({ id }) => id),
    );
  });

  it('take seconds for a week of 2,000 workspaces', () => {
    const [workspaces, days] = IS_FULL ? [2_000, 7] : [200, 2];
    const { at, worker, template, model } = coderdWorld();
    for (let n = 0; n < 40; n++) worker();
    const made = template({ timeTilDormantMs: 30 * DAY });
    for (let n = 0; n < workspaces; n++)
      model.workspaces.add({ template: made, schedule: `${n % 60} 9 * * 1-5`, ttlMs: 8 * HOUR });
    at(days * DAY);
    const done = model.jobs().filter(({ status }) => status === 'succeeded');
    expect(done).toHaveLength(workspaces * Math.min(5, days) * 2);
  });
});
