import { expect, it } from 'vitest';
import { HOUR_MS } from '../../../../lambda/decision/model/units.ts';
import { contextInto } from '../../../what-if/trace/generate/generator-context.ts';
import type { Template } from '../../../what-if/trace/generate/scenario.ts';
import { Workspace } from '../../../what-if/trace/generate/workspace.ts';
import type { TraceJob } from '../../../what-if/trace/trace.ts';
import { Random } from '../../../world/base/random.ts';

/** p50 equals p95, so builds take almost the same time. */
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

/** Kind, hour with one decimal, and transition of each job. */
function jobsOf(act: (workspace: Workspace) => void): readonly string[] {
  const jobs: TraceJob[] = [];
  act(new Workspace(TEMPLATE, 1, contextInto(jobs, new Random(1))));
  return jobs.map(
    ({ kind, at, seconds }) => `${kind} ${(at / HOUR_MS).toFixed(1)} ${seconds < 40 ? 'stop' : 'start'}`,
  );
}

it.each([
  {
    name: 'stops at its time to live after it is ready',
    act: (it: Workspace) => {
      it.start('autostart', 9 * HOUR_MS);
      it.isRunning(24 * HOUR_MS);
    },
    jobs: ['autostart 9.0 start', 'autostop 17.0 stop'],
  },
  {
    name: 'runs for one more hour after its last use',
    act: (it: Workspace) => {
      it.start('user', 9 * HOUR_MS);
      it.use(18 * HOUR_MS);
      it.isRunning(24 * HOUR_MS);
    },
    jobs: ['user 9.0 start', 'autostop 19.0 stop'],
  },
  {
    name: 'starts only once while it runs',
    act: (it: Workspace) => {
      it.start('user', 8 * HOUR_MS);
      it.start('autostart', 9 * HOUR_MS);
    },
    jobs: ['user 8.0 start'],
  },
  {
    name: 'stops and starts on a restart, and its time to live begins again',
    act: (it: Workspace) => {
      it.start('user', 9 * HOUR_MS);
      it.restart(12 * HOUR_MS);
      it.isRunning(24 * HOUR_MS);
    },
    jobs: ['user 9.0 start', 'user 12.0 stop', 'user 12.0 start', 'autostop 20.0 stop'],
  },
  {
    name: 'ignores a stop and a restart while it is stopped',
    act: (it: Workspace) => {
      it.start('user', 9 * HOUR_MS);
      it.stop(10 * HOUR_MS);
      it.stop(11 * HOUR_MS);
      it.restart(12 * HOUR_MS);
      it.isRunning(24 * HOUR_MS);
    },
    jobs: ['user 9.0 start', 'user 10.0 stop'],
  },
])('a workspace $name', ({ act, jobs }) => {
  expect(jobsOf(act)).toEqual(jobs);
});
