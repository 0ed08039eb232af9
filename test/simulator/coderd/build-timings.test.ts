import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS as MINUTE } from '../../../lambda/decision/model/units.ts';
import type { InitWork } from '../../../simulator/base/daemon-connection.ts';
import { Random } from '../../../simulator/base/random.ts';
import { Timeline } from '../../../simulator/base/timeline.ts';
import { CoderdModel } from '../../../simulator/coderd/model.ts';
import { coderdHandler } from '../../../simulator/coderd/routes/http.ts';
import type { TemplateRecord } from '../../../simulator/coderd/tables/templates.ts';
import { Daemon } from '../../../simulator/task/daemon.ts';
import { serve } from '../../support/servers.ts';

const START = Date.parse('2026-11-20T09:00:00Z') as EpochMs;
const NOBODYS = '00000000-0000-4000-a000-000000000000';

const docker: InitWork = { warmMs: 3_000, providers: { coder: 2_000, docker: 8_000 } };
const aws: InitWork = { warmMs: 4_000, providers: { coder: 2_000, aws: 20_000 } };

async function world(version = 'v2.36.0') {
  const timeline = new Timeline(START);
  const random = new Random(1);
  const model = new CoderdModel({ timeline, random, version, organizations: ['default'] });
  const key = model.addKey({ organization: 'default', name: 'cpu', tags: {} });
  const root = await serve(coderdHandler(model));
  const all = model.addToken({ canRead: 'all' });
  const timings = async (id: string, token = all) => {
    const url = `${root}/api/v2/workspacebuilds/${id}/timings`;
    const response = await fetch(url, { headers: { 'Coder-Session-Token': token } });
    return { status: response.status, body: (await response.json()) as Timings };
  };
  const later = (ms: number): void => timeline.advanceTo((timeline.now() + ms) as EpochMs);
  /** Replaces the task by a new one. */
  let task: Daemon | undefined;
  const newTask = (): void => {
    task?.terminate();
    const quiet = { onExit: () => {}, onKilledJob: () => {} };
    const connect = [1_000, 1_000] as const;
    task = new Daemon({
      ...{ timeline, random, server: model, credential: { key }, name: 'cpu-1', version, connect, ...quiet },
    });
  };
  const template = (init: InitWork): TemplateRecord => model.addTemplate({ organization: 'default', init });
  /** Builds a new workspace, and returns the id of the build. */
  const build = (of: TemplateRecord, willFail = false): string => {
    const workspace = model.workspaces.add({ template: of });
    model.build(workspace, 'start', { willFail });
    later(5 * MINUTE);
    return workspace.latestBuild.id;
  };
  const initSeconds = async (id: string): Promise<number> => {
    const rows = (await timings(id)).body.provisioner_timings.filter(({ stage }) => stage === 'init');
    const [first] = rows;
    return (Date.parse(first?.ended_at ?? '') - Date.parse(first?.started_at ?? '')) / 1000;
  };
  return { model, timings, newTask, template, build, initSeconds };
}

type Row = { readonly stage: string; readonly started_at: string; readonly ended_at: string };
type Timings = { readonly provisioner_timings: readonly Row[] };

describe('the timings of a build', () => {
  it('have the stages of a build as releases since 2.29 report them', async () => {
    const { model, timings, newTask, template, build } = await world();
    newTask();
    const id = build(template(docker));
    const { status, body } = await timings(id);
    const job = { job_id: model.jobOfBuild(id)?.id };
    expect({ status, ...body, provisioner_timings: body.provisioner_timings.slice(0, 2) }).toEqual({
      status: 200,
      provisioner_timings: [
        {
          ...{ ...job, started_at: '2026-11-20T09:00:01Z', ended_at: '2026-11-20T09:00:14Z' },
          ...{ stage: 'init', source: 'coder', action: 'terraform', resource: 'coder_stage_init' },
        },
        {
          ...{ ...job, started_at: '2026-11-20T09:00:01.26Z', ended_at: '2026-11-20T09:00:01.39Z' },
          ...{ stage: 'init', source: '', action: 'load', resource: 'backend' },
        },
      ],
      agent_script_timings: [],
      agent_connection_timings: [],
    });
    const stages = body.provisioner_timings.map(({ stage }) => stage);
    expect([...new Set(stages)]).toEqual(['init', 'plan', 'apply', 'graph']);
  });

  it('have one row for the init before 2.29', async () => {
    const { timings, newTask, template, build } = await world('v2.25.3');
    newTask();
    const { body } = await timings(build(template(docker)));
    expect(body.provisioner_timings.filter(({ stage }) => stage === 'init')).toMatchObject([
      { source: 'terraform', action: 'initializing terraform', resource: 'state file' },
    ]);
  });

  it('are empty for a build that failed', async () => {
    const { timings, newTask, template, build } = await world();
    newTask();
    const { status, body } = await timings(build(template(docker), true));
    expect([status, body.provisioner_timings]).toEqual([200, []]);
  });

  it('are a 404 for an unknown build and for a user who may not read the workspace', async () => {
    const { model, timings, newTask, template, build } = await world();
    newTask();
    const id = build(template(docker));
    const stranger = model.addToken({ canRead: 'all', canReadWorkspaces: [] });
    expect([(await timings(NOBODYS)).status, (await timings(id, stranger)).status]).toEqual([404, 404]);
    expect((await timings('nope')).status).toBe(400);
  });
});

describe('the provider cache of a task', () => {
  it('is empty at first, and keeps what a build has downloaded', async () => {
    const { newTask, template, build, initSeconds } = await world();
    const [one, other] = [template(docker), template(aws)];
    newTask();
    expect(await initSeconds(build(one))).toBe(13);
    expect(await initSeconds(build(one))).toBe(3);
    // the provider of coder is there already
    expect(await initSeconds(build(other))).toBe(24);
    expect(await initSeconds(build(other))).toBe(4);
    newTask();
    expect(await initSeconds(build(one))).toBe(13);
  });

  it('makes the first build of a task longer by its downloads', async () => {
    const { model, newTask, template, build } = await world();
    const its = template(docker);
    newTask();
    const durations = [build(its), build(its)].map((id) => {
      const job = model.jobOfBuild(id);
      return (job?.completedAt ?? 0) - (job?.startedAt ?? 0);
    });
    expect(durations).toEqual([70_000, 60_000]);
  });
});
