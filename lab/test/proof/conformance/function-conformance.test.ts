/**
 * Tests the parts of the run against a real coderd. The run itself needs a coderd with a control
 * port.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../../lambda/config/read.ts';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { HOUR_MS } from '../../../../lambda/decision/model/units.ts';
import { RealDaemons } from '../../../proof/conformance/function/real-daemons.ts';
import { type ConformanceRun, problemsOf, reportText } from '../../../proof/conformance/function/report.ts';
import {
  configOf,
  jobsSince,
  POOLS,
  play,
  prepare,
  type RealJob,
  type RealWorkspace,
} from '../../../proof/conformance/function/story.ts';
import type { DaemonState } from '../../../proof/conformance/stage/control-port.ts';
import { SimulatedStage } from '../../../proof/conformance/stage/simulated-stage.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel } from '../../../world/coderd/model.ts';

const START = 1_000_000 as EpochMs;
const CONNECT_MS = 3_000;

/** A daemon of pool gpu, with the calls that the control port and the guard got. */
function daemonOfTask({ refuses = false } = {}) {
  const timeline = new Timeline(START);
  const calls: string[] = [];
  let states: readonly DaemonState[] = [];
  const daemons = new RealDaemons({
    control: {
      start: async (name, tags) => {
        calls.push(`start ${name} ${JSON.stringify(tags)}`);
        if (refuses) throw new Error('409');
      },
      signal: async (name, signal) => void calls.push(`${signal} ${name}`),
      list: async () => states,
    },
    tagsOf: (pool) => ({ pool }),
    onError: (error) => calls.push(String(error)),
  });
  const random = new Random(1);
  const daemon = daemons.start(
    {
      timeline,
      random,
      server: new CoderdModel({ timeline, random, organizations: ['default'] }),
      connect: [CONNECT_MS, CONNECT_MS],
      credential: {},
      name: 'gpu-1',
      version: '',
      onExit: (code) => calls.push(`exit ${code}`),
      onKilledJob: () => {},
    },
    'gpu',
  );
  return {
    daemon,
    daemons,
    calls,
    connect: async (): Promise<void> => {
      timeline.advanceTo((START + CONNECT_MS) as EpochMs);
      await turn();
    },
    see: async (...listed: readonly DaemonState[]): Promise<void> => {
      states = listed;
      await daemons.poll();
    },
  };
}

describe('RealDaemons', () => {
  it("starts a daemon with its pool's tags after the delay of a connection", async () => {
    const { calls, connect } = daemonOfTask();
    expect(calls).toEqual([]);
    await connect();
    expect(calls).toEqual(['start gpu-1 {"pool":"gpu"}']);
  });

  it('terminates a daemon after its start, and reports its exit to the guard once', async () => {
    const { daemon, calls, connect, see } = daemonOfTask();
    await connect();
    daemon.terminate();
    await turn();
    await see({ name: 'gpu-1', state: 'terminating' });
    expect(calls.slice(1)).toEqual(['terminate gpu-1']);
    for (let poll = 0; poll < 2; poll++) await see({ name: 'gpu-1', state: 'exited', exitCode: 0 });
    daemon.kill();
    expect(calls.slice(2)).toEqual(['exit 0']);
  });

  it('never starts a daemon that is terminated before it connects', async () => {
    const { daemon, calls, connect } = daemonOfTask();
    daemon.terminate();
    await connect();
    expect(calls).toEqual(['exit 0']);
  });

  it('counts a daemon as killed if it had not exited, and reports nothing more to its guard', async () => {
    const { daemon, daemons, calls, connect, see } = daemonOfTask();
    await connect();
    daemon.kill();
    await turn();
    await see({ name: 'gpu-1', state: 'exited', exitCode: 137 });
    expect(daemons.killed).toEqual(['gpu-1']);
    expect(calls.slice(1)).toEqual(['kill gpu-1']);
  });

  it('reports exit code 1 to the guard when the control port refuses to start the daemon', async () => {
    const { calls, connect } = daemonOfTask({ refuses: true });
    await connect();
    expect(calls.slice(1)).toEqual(['Error: 409', 'exit 1']);
  });
});

describe('the story of a run', () => {
  it('prepares sleepers that are stopped, and asks for builds of different lengths and stops', async () => {
    const stage = await SimulatedStage.at('v2.36.0');
    onTestFinished(() => stage.close());
    const { sleepers, dueAt } = await prepare(stage);
    const startedAt = stage.now();
    for (const { name, tags } of POOLS) await stage.startDaemon(name, tags);
    const asked = await play(stage, () => {});
    await stage.pass(dueAt.getTime() - stage.now());
    for (const { name } of POOLS) await stage.setLastSeen(name, stage.now());
    await stage.tick(stage.now());
    await stage.pass(HOUR_MS);
    const { body } = await stage.ask({ path: '/workspaces' });
    const { workspaces } = body as { readonly workspaces: readonly RealWorkspace[] };
    const started = workspaces.filter(({ latest_build }) => latest_build.reason === 'autostart');
    expect(started.map(({ name }) => name).toSorted()).toEqual(sleepers);
    const jobs = await jobsSince(stage, startedAt);
    expect(jobs.map(({ status }) => status)).toEqual(Array(asked + 3).fill('succeeded'));
    expect(asked).toBeGreaterThan(16);
  });
});

describe('configOf', () => {
  it('gives a configuration that the product accepts without warnings', () => {
    const { warnings } = readConfig(
      configOf({ url: 'http://127.0.0.1:3000', organization: 'coder', version: 'v2.36.0' }),
      'autoscaler.yaml',
    );
    expect(warnings).toEqual([]);
  });
});

const gpuJob = (change: Partial<RealJob> = {}): RealJob => ({
  id: 'j1',
  type: 'workspace_build',
  status: 'succeeded',
  created_at: 1_000,
  started_at: 61_000,
  completed_at: 90_000,
  worker_name: 'gpu-2',
  ...change,
});
const sleeper = (reason: string): RealWorkspace => ({
  name: 'w1',
  latest_build: { reason, created_at: 120_400, job: gpuJob() },
});
const run: ConformanceRun = {
  coderdVersion: 'v2.36.0',
  jobs: [gpuJob(), gpuJob({ id: 'j2', worker_name: 'gpu-1' })],
  asked: 1,
  sleepers: [sleeper('autostart')],
  dueAt: new Date(120_000),
  tasks: [
    { pool: 'gpu', daemon: 'gpu-1', goneAt: 80_000 },
    { pool: 'gpu', daemon: 'gpu-2', goneAt: undefined },
  ],
  remaining: 0,
  killed: [],
  invocations: 1,
  errors: [],
};

describe('the report of a run', () => {
  it('has the builds, their longest wait, and the delay of each autostart', () => {
    const text = reportText(run);
    expect(text).toContain('builds: 2, started: 2, longest wait: 60.0 s');
    expect(text).toContain('autostart of w1: created 0.4 s after it was due, succeeded');
    expect(problemsOf(run)).toEqual([]);
  });

  it.each<{ readonly change: Partial<ConformanceRun>; readonly problem: string }>([
    { change: { asked: 2 }, problem: 'coderd has 2 builds, but 3 were requested or due' },
    {
      change: { jobs: [gpuJob(), gpuJob({ status: 'failed', error: 'terminated' })] },
      problem: 'build job j1 is failed: terminated',
    },
    { change: { sleepers: [sleeper('initiator')] }, problem: 'workspace w1 was not started by its schedule' },
    { change: { killed: ['gpu-1'] }, problem: 'daemon gpu-1 was killed' },
    { change: { tasks: [] }, problem: 'no pool was scaled in while a build ran' },
    { change: { remaining: 1 }, problem: 'tasks that still exist or are desired: 1' },
    { change: { errors: ['unreachable'] }, problem: 'unreachable' },
  ])('lists the problem: $problem', ({ change, problem }) => {
    expect(problemsOf({ ...run, ...change })).toContain(problem);
  });
});
