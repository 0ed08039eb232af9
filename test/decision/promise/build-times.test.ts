/** The times of builds, and the transition of a job that coderd does not tell. */
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { buildRestOf, buildTimesIn, factorOf } from '../../../lambda/decision/promise/build-times.ts';
import { transitionsIn } from '../../../lambda/decision/promise/transition-of.ts';
import { ago, aJob, anOrganization, aWorkspace, HOUR, MINUTE, reading, SECOND } from '../../support/parts.ts';

/** Builds that took these seconds and came `everyMs` apart. */
const builds = (seconds: readonly number[], everyMs: number, transition?: string) =>
  seconds.map((took, index) =>
    aJob({
      status: 'succeeded',
      created_at: ago(2 * HOUR + index * everyMs),
      started_at: ago(2 * HOUR),
      completed_at: ago(2 * HOUR - took * SECOND),
      metadata: { template_id: 'template', workspace_build_transition: transition },
    }),
  );

const job = aJob({ metadata: { template_id: 'template', workspace_id: 'one' } });

describe('the times of builds', () => {
  const organization = (...jobs: ReturnType<typeof builds>) => anOrganization({ recentJobs: reading(jobs) });

  it('are unknown with fewer than 5 similar builds', () => {
    expect(buildTimesIn(organization(...builds([60, 61, 62, 63], MINUTE)))(job)).toBeUndefined();
  });

  it('have nothing in common if the builds came far apart', () => {
    const times = buildTimesIn(organization(...builds([20, 20, 20, 80, 80, 80], 5 * MINUTE)))(job);
    expect(times?.own).toBe(1);
  });

  it('have much in common if builds that came together were alike', () => {
    const times = buildTimesIn(
      organization(...builds([20, 20, 20, 20, 20, 80, 80, 80, 80, 80], 10 * SECOND)),
    )(job);
    expect(times?.own).toBeLessThan(0.7);
    expect(times?.common).toBeGreaterThan(0.4);
  });

  it('leave a rest that is never negative, even of a build that is older than all others', () => {
    const times = buildTimesIn(organization(...builds([20, 30, 40, 50, 60], 5 * MINUTE)))(job);
    if (times === undefined) throw new Error('unknown');
    const factor = factorOf(times, 0);
    const restOf = (ageS: number) =>
      buildRestOf(times, { factor, ageMs: ageS * SECOND, number: 0.5 }) / SECOND;
    expect(restOf(0)).toBeGreaterThan(30);
    expect(restOf(0)).toBeLessThan(50);
    expect(restOf(45)).toBeLessThan(25);
    expect(restOf(45)).toBeGreaterThan(0);
    expect(restOf(600)).toBeGreaterThan(60);
  });
});

describe('the transition of a job', () => {
  const list = (...items: ReturnType<typeof aWorkspace>[]) =>
    anOrganization({ workspaces: { ...reading(items), takenAt: ago(MINUTE) } });
  const latest = (transition: string, id = 'other') =>
    list(
      aWorkspace({ id: 'one', latest_build: { transition, job: { status: 'succeeded', id: id as never } } }),
    );

  it.each([
    { organization: latest('delete', job.id), expected: 'delete', because: 'the list has this build' },
    { organization: latest('stop'), expected: 'start', because: 'it comes after a stop' },
    { organization: latest('start'), expected: 'stop', because: 'it comes after a start' },
    { organization: list(), expected: 'start', because: 'the workspace is younger than the list' },
    { organization: anOrganization(), expected: undefined, because: 'there is no list' },
  ])('is $expected: $because', ({ organization, expected }) => {
    expect(transitionsIn(organization)(job)).toBe(expected);
  });

  it('is what coderd tells, and unknown for an old job of an unlisted workspace', () => {
    const told = aJob({ metadata: { workspace_id: 'one', workspace_build_transition: 'delete' } });
    expect(transitionsIn(list())(told)).toBe('delete');
    const old = aJob({ created_at: ago(HOUR) as EpochMs, metadata: { workspace_id: 'one' } });
    expect(transitionsIn(list())(old)).toBeUndefined();
  });
});
