import { describe, expect, it } from 'vitest';
import { table } from '../../../../test/support/table.ts';
import type { NewTemplate } from '../../../world/coderd/tables/templates.ts';
import type { NewWorkspace } from '../../../world/coderd/tables/workspace-records.ts';
import { coderdWorld, DAY, HOUR, MINUTE, SECOND, START } from './coderd-workspaces-fixture.ts';

describe('a build', () => {
  it('is a job of the workspace, with the tags and the duration of its template', () => {
    const { model, workspace } = coderdWorld();
    const record = workspace({}, { tags: { env: 'a' }, buildMs: { start: 7 * SECOND } });
    model.build(record, 'start');
    expect(model.jobs()).toMatchObject([
      {
        status: 'pending',
        transition: 'start',
        tags: { env: 'a', scope: 'organization', owner: '' },
        durationMs: 7 * SECOND,
        workspace: { id: record.id, name: record.name, buildId: record.latestBuild.id },
      },
    ]);
    expect(record.latestBuild).toMatchObject({ number: 2, reason: 'initiator', createdAt: START });
    expect(record.latestBuild.job).toBe(model.jobs()[0]);
  });

  it('sets a deadline only when a start succeeds', () => {
    const { model, at, worker, workspace } = coderdWorld();
    worker();
    const record = workspace({ ttlMs: HOUR }, { maxLifetimeMs: 2 * HOUR });
    model.build(record, 'start');
    at(MINUTE - 1);
    expect(record.latestBuild).toMatchObject({ deadline: undefined, maxDeadline: undefined });
    at(MINUTE);
    const end = START + MINUTE;
    expect(record.latestBuild).toMatchObject({ deadline: end + HOUR, maxDeadline: end + 2 * HOUR });
  });

  it('sets no deadline when a start fails or is cancelled', () => {
    const { model, at, worker, workspace } = coderdWorld();
    const [failing, cancelled] = [workspace({ ttlMs: HOUR, willFail: true }), workspace({ ttlMs: HOUR })];
    for (const record of [failing, cancelled]) model.build(record, 'start');
    const job = model.jobs()[1];
    if (job !== undefined) model.cancelJob(job.id);
    worker();
    at(2 * DAY);
    for (const { latestBuild } of [failing, cancelled]) expect(latestBuild.deadline).toBeUndefined();
    expect(model.jobs().map(({ status }) => status)).toEqual(['failed', 'canceled']);
  });

  it('fails if its own setting says so, or by default if that of its workspace does', () => {
    const { model, at, worker, workspace } = coderdWorld();
    worker();
    const fails: readonly { readonly workspace: Partial<NewWorkspace>; readonly willFail?: boolean }[] = [
      { workspace: {} },
      { workspace: {}, willFail: true },
      { workspace: { willFail: true } },
      { workspace: { willFail: true }, willFail: false },
    ];
    for (const { workspace: given, ...build } of fails) model.build(workspace(given), 'start', build);
    at(HOUR);
    expect(model.jobs().map(({ status }) => status)).toEqual(['succeeded', 'failed', 'failed', 'succeeded']);
  });

  it('deletes the workspace when a delete succeeds, and refuses changes afterwards', () => {
    const { model, at, worker, workspace } = coderdWorld();
    worker();
    const record = workspace();
    model.build(record, 'delete');
    expect(model.workspaces.all()).toEqual([record]);
    at(MINUTE);
    expect(model.workspaces.all()).toEqual([]);
    for (const act of [() => model.workspaces.use(record.id), () => model.build(record, 'start')])
      expect(act).toThrow(expect.objectContaining({ status: 404 }));
  });
});

describe('the next start', () => {
  it('is computed when a stop is inserted and again when it has ended', () => {
    const { model, at, worker, workspace } = coderdWorld();
    const record = workspace({ schedule: '10 8 * * *', running: true });
    at(DAY + 9 * MINUTE + 50 * SECOND);
    model.build(record, 'stop');
    expect(record.nextStartAt).toBe(START + DAY + 10 * MINUTE);
    worker();
    at(DAY + 20 * MINUTE);
    expect(record).toMatchObject({ latestBuild: { number: 2 }, nextStartAt: START + 2 * DAY + 10 * MINUTE });
  });

  it('is computed when a start has ended, as after every build', () => {
    const { at, worker, workspace } = coderdWorld();
    worker();
    const record = workspace({ schedule: '10 8 * * *' });
    at(DAY);
    expect(record).toMatchObject({
      latestBuild: { transition: 'start', number: 2 },
      nextStartAt: START + DAY + 10 * MINUTE,
    });
  });

  it('is set although the template forbids autostarts, and absent if no day is allowed', () => {
    const { workspace } = coderdWorld();
    const given = { schedule: '10 8 * * *' };
    expect(workspace(given, { allowUserAutostart: false }).nextStartAt).toBe(START + 10 * MINUTE);
    expect(workspace(given, { autostartDays: [] }).nextStartAt).toBeUndefined();
  });
});

describe('activity of a user', () => {
  type ActivityRow = {
    readonly workspace: Partial<NewWorkspace>;
    readonly template?: Partial<NewTemplate>;
    readonly afterMs: number;
    readonly deadlineMs: number | undefined;
    readonly because: string;
  };
  const rows = table<ActivityRow>`
    workspace                          | template                 | afterMs       | deadlineMs     | because
    ${{ ttlMs: HOUR }}                 |                          | ${HOUR / 2}   | ${1.5 * HOUR}  | it is an hour from now
    ${{ ttlMs: HOUR }}                 |                          | ${3 * MINUTE} | ${HOUR}        | it would move by no more than a twentieth of the bump
    ${{ ttlMs: HOUR }}                 |                          | ${3 * MINUTE + 1} | ${HOUR + 3 * MINUTE + 1} | it would move by more than that
    ${{ ttlMs: 9 * HOUR }}             |                          | ${HOUR}       | ${9 * HOUR}    | it never goes back
    ${{ ttlMs: HOUR }}                 | ${{ maxLifetimeMs: 70 * MINUTE }} | ${HOUR / 2}   | ${70 * MINUTE} | it never exceeds the maximum
    ${{ ttlMs: HOUR }}                 | ${{ activityBumpMs: 0 }} | ${HOUR / 2}   | ${HOUR}        | the template has no activity bump
    ${{ ttlMs: 2 * HOUR, schedule: '0 9 * * *' }} |                          | ${HOUR / 2}   | ${3 * HOUR}    | it counts as an autostart at nine
    ${{ ttlMs: HOUR }}                 |                          | ${2 * HOUR}   | ${3 * HOUR}    | an autostart also counts that passed while the gate was closed
    ${{ ttlMs: HOUR }}                 | ${{ activityBumpMs: 0 }} | ${2 * HOUR}   | ${HOUR}        | without an activity bump the autostart does not count
    ${{ ttlMs: 0 }}                    |                          | ${HOUR / 2}   | ${undefined}   | it has no deadline
    ${{ ttlMs: HOUR, running: false }} |                          | ${HOUR / 2}   | ${HOUR}        | the deadline of a stop stays
    ${{ ttlMs: HOUR, prebuilt: true }} |                          | ${HOUR / 2}   | ${undefined}   | prebuilt workspaces have no deadline
  `;
  it.each(rows)('leads to the deadline $deadlineMs ms: $because', ({ deadlineMs, afterMs, ...given }) => {
    const { model, at, ...world } = coderdWorld();
    const record = world.workspace({ running: true, ...given.workspace }, given.template);
    at(afterMs);
    model.workspaces.use(record.id);
    expect(record.lastUsedAt).toBe(START + afterMs);
    expect(record.latestBuild.deadline).toBe(deadlineMs === undefined ? undefined : START + deadlineMs);
  });

  it('delays autostop and dormancy', () => {
    const { model, at, onlooker, workspace, inserted } = coderdWorld();
    onlooker();
    const stopping = workspace({ running: true, ttlMs: HOUR });
    const sleeping = workspace({}, { timeTilDormantMs: HOUR });
    at(HOUR - 1);
    for (const record of [stopping, sleeping]) model.workspaces.use(record.id);
    at(2 * HOUR - 1);
    expect(inserted()).toEqual([]);
    expect(sleeping.dormantAt).toBeUndefined();
    at(2 * HOUR);
    expect(inserted()).toEqual(['120 stop']);
    expect(sleeping.dormantAt).toBe(START + 2 * HOUR);
  });
});

describe('a template', () => {
  it('keeps its versions, and refuses a version of an unknown template', () => {
    const { model, template } = coderdWorld();
    const made = template({ tags: { env: 'a' } });
    const first = made.activeVersion;
    model.pushVersion(made, { env: 'b' });
    expect(made.activeVersion).toMatchObject({ tags: { env: 'b', scope: 'organization', owner: '' } });
    expect(made.versions).toEqual([first, made.activeVersion]);
    expect(() => model.pushVersion({ ...made, id: 'x' }, {})).toThrow(
      expect.objectContaining({ status: 404 }),
    );
  });

  it('is created for each tag set of jobs that are submitted without a template', () => {
    const { model, template } = coderdWorld();
    template();
    for (const tags of [{}, {}, { env: 'a' }])
      model.submitJob({ organization: 'default', tags, durationMs: 1 });
    expect(model.templates().map(({ name }) => name)).toEqual(['template-1', 'template-2', 'template-3']);
    expect(model.workspaces.all()).toEqual([]);
  });
});
