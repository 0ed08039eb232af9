/** Which builds that died with their tasks a process logs, and when again. */
import { expect, it } from 'vitest';
import type { JobId, PoolName } from '../../lambda/decision/model/brands.ts';
import type { DeadBuild, Plan } from '../../lambda/decision/model/plan.ts';
import { OrphanEvents } from '../../lambda/look/orphan-event.ts';
import { rareMetrics } from '../../lambda/telemetry/look-metrics.ts';

const build = (job: string, given: Partial<DeadBuild> = {}): DeadBuild => ({
  job: job as JobId,
  workspace: 'dev',
  workspaceId: 'w',
  owner: null,
  transition: 'start',
  template: 'linux',
  startedAt: '2026-11-20T08:45:00.000Z',
  stoppedAt: '2026-11-20T08:50:00.000Z',
  task: '1',
  cause: 'spot',
  reason: 'Your Spot Task was interrupted.',
  ...given,
});

const planWith = (...builds: readonly DeadBuild[]): Plan =>
  ({
    findings: [
      { code: 'build-died-with-task', pool: 'cpu' as PoolName, organization: 'default', builds },
      { code: 'version-unknown' },
    ],
  }) as unknown as Plan;

it('logs a death once, with flat fields and its pool', () => {
  const events = new OrphanEvents();
  const plan = planWith(build('a'));
  expect(events.newOf(plan)).toEqual([{ pool: 'cpu', organization: 'default', ...build('a') }]);
  expect(events.newOf(plan)).toEqual([]);
  expect(events.newOf(planWith(build('b'), build('a'))).map(({ job }) => job)).toEqual(['b']);
});

it('logs a death again once more is known of it, and not when less is known', () => {
  const events = new OrphanEvents();
  events.newOf(planWith(build('a')));
  const more = build('a', { owner: 'alice' });
  expect(events.newOf(planWith(more))).toMatchObject([{ owner: 'alice' }]);
  expect(events.newOf(planWith(build('a')))).toEqual([]);
  expect(events.newOf(planWith(more))).toEqual([]);
});

it('does not log a death again after a look that did not see its task', () => {
  const events = new OrphanEvents();
  events.newOf(planWith(build('a')));
  events.newOf(planWith());
  expect(events.newOf(planWith(build('a')))).toEqual([]);
});

it('remembers 2,000 deaths', () => {
  const events = new OrphanEvents();
  const all = Array.from({ length: 2_000 }, (_, index) => build(`${index}`));
  events.newOf(planWith(...all));
  expect(events.newOf(planWith(...all))).toEqual([]);
  events.newOf(planWith(build('one more')));
  expect(events.newOf(planWith(...all.slice(0, 2).reverse())).map(({ job }) => job)).toEqual(['0']);
});

it('logs a death again in a new process', () => {
  new OrphanEvents().newOf(planWith(build('a')));
  expect(new OrphanEvents().newOf(planWith(build('a')))).toHaveLength(1);
});

it('counts the builds that died in the metric, and has no value without one', () => {
  expect(rareMetrics(planWith(build('a'), build('b'))).DeadBuilds).toBe(2);
  expect(rareMetrics(planWith()).DeadBuilds).toBeUndefined();
});
