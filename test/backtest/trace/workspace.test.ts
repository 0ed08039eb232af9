import { expect, it } from 'vitest';
import type { Template } from '../../../backtest/trace/generate/scenario.ts';
import { sceneInto } from '../../../backtest/trace/generate/scene.ts';
import { Workspace } from '../../../backtest/trace/generate/workspace.ts';
import type { TraceJob } from '../../../backtest/trace/trace.ts';
import { Random } from '../../../simulator/base/random.ts';

const HOUR_MS = 3_600_000;

/** Builds take nearly the same time always. */
const TEMPLATE: Template = {
  name: 'container',
  organization: 'default',
  tags: {},
  start: { p50: 60, p95: 60 },
  stop: { p50: 20, p95: 20 },
  import: { p50: 20, p95: 20 },
  ttlHours: 8,
  pushesPerWeek: 0,
  timezone: 'UTC',
};

/** Hours to the minute: a build that ends is still of that hour. */
function jobsOf(act: (workspace: Workspace) => void): readonly string[] {
  const jobs: TraceJob[] = [];
  act(new Workspace(TEMPLATE, 1, sceneInto(jobs, new Random(1))));
  return jobs.map(
    ({ kind, at, seconds }) => `${kind} ${(at / HOUR_MS).toFixed(1)} ${seconds < 40 ? 'stop' : 'start'}`,
  );
}

it.each([
  {
    because: 'the time to live is counted from when it is ready',
    act: (it: Workspace) => {
      it.start('autostart', 9 * HOUR_MS);
      it.isRunning(24 * HOUR_MS);
    },
    jobs: ['autostart 9.0 start', 'autostop 17.0 stop'],
  },
  {
    because: 'who uses it has it for an hour longer',
    act: (it: Workspace) => {
      it.start('user', 9 * HOUR_MS);
      it.use(18 * HOUR_MS);
      it.isRunning(24 * HOUR_MS);
    },
    jobs: ['user 9.0 start', 'autostop 19.0 stop'],
  },
  {
    because: 'what runs is not started again',
    act: (it: Workspace) => {
      it.start('user', 8 * HOUR_MS);
      it.start('autostart', 9 * HOUR_MS);
    },
    jobs: ['user 8.0 start'],
  },
  {
    because: 'a restart stops and starts it, and its time begins anew',
    act: (it: Workspace) => {
      it.start('user', 9 * HOUR_MS);
      it.restart(12 * HOUR_MS);
      it.isRunning(24 * HOUR_MS);
    },
    jobs: ['user 9.0 start', 'user 12.0 stop', 'user 12.0 start', 'autostop 20.0 stop'],
  },
  {
    because: 'what is stopped is neither stopped nor restarted',
    act: (it: Workspace) => {
      it.start('user', 9 * HOUR_MS);
      it.stop(10 * HOUR_MS);
      it.stop(11 * HOUR_MS);
      it.restart(12 * HOUR_MS);
      it.isRunning(24 * HOUR_MS);
    },
    jobs: ['user 9.0 start', 'user 10.0 stop'],
  },
])('of a workspace: $because', ({ act, jobs }) => {
  expect(jobsOf(act)).toEqual(jobs);
});
