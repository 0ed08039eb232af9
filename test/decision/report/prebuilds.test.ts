/** The findings about prebuilds that a limit holds back. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import { PREBUILDS_USER } from '../../../lambda/decision/demand/record.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { Job, Service } from '../../../lambda/decision/model/snapshot.ts';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import {
  aConfig,
  ago,
  aJob,
  anOrganization,
  aPool,
  aService,
  aSnapshot,
  HOUR,
  MINUTE,
  reading,
} from '../../support/parts.ts';
import { table } from '../../support/table.ts';

type Queue = {
  readonly ages: readonly number[];
  readonly pool?: Partial<PoolConfig>;
  /** The duration of earlier builds of the same tags. Undefined: none is known. */
  readonly tookMs?: number;
  readonly initiator?: string;
  readonly version?: string;
  readonly service?: Partial<Service>;
};

function waiting({ ages, pool, tookMs, initiator = PREBUILDS_USER, version, service }: Queue) {
  const jobs = ages.map((minutes) => aJob({ initiator_id: initiator, created_at: ago(minutes * MINUTE) }));
  const took = (durationMs: number) => ({ started_at: ago(HOUR), completed_at: ago(HOUR - durationMs) });
  const past = Array.from({ length: tookMs === undefined ? 0 : 10 }, () =>
    aJob({ initiator_id: PREBUILDS_USER, status: 'succeeded', created_at: ago(HOUR), ...took(tookMs ?? 0) }),
  );
  const organization = anOrganization({ jobs: reading(jobs), recentJobs: reading(past) });
  const snapshot = aSnapshot({
    organizations: [organization],
    services: [aService(service)],
    ...(version === undefined ? {} : { version }),
  });
  const config = aConfig(aPool(pool as PoolConfig));
  return decide(snapshot, config).findings.flatMap((found) =>
    found.code === 'prebuilds-waiting' ? [found] : [],
  );
}

const batch = (jobs: number, minutes: number): readonly number[] => Array<number>(jobs).fill(minutes);

describe('prebuilds that wait', () => {
  const small = { max: 5, prebuilds: { maxTasks: 4 } };

  it.each(table<Queue & { readonly late: number | undefined; readonly because: string }>`
    ages             | pool     | tookMs        | late         | initiator | version | because
    ${batch(50, 14)} | ${small} | ${4 * MINUTE} | ${undefined} |           |         | it is early
    ${batch(50, 15)} | ${small} | ${4 * MINUTE} | 34           |           |         | 3 turns of 4 are in time
    ${batch(16, 15)} | ${small} | ${4 * MINUTE} | ${undefined} |           |         | all are in time
    ${batch(17, 15)} | ${small} | ${4 * MINUTE} | 1            |           |         | the last is too late
    ${batch(50, 19)} | ${small} |               | ${undefined} |           |         | the duration is unknown
    ${batch(50, 20)} | ${small} |               | 46           |           |         | it is late, whatever the duration is
    ${batch(50, 29)} | ${{ max: 60, prebuilds: { maxTasks: 60 } }} |               | ${undefined} |           |         | all launch
    ${batch(50, 29)} | ${small} |               | ${undefined} | anna      |         | they are a person’s
    ${batch(50, 29)} | ${small} |               | ${undefined} |           | v2.22.0 | coderd has no reaper
  `)('are late ($late of $ages.length): $because', ({ late, ...queue }) => {
    expect(waiting(queue).map((found) => found.late)).toEqual(late === undefined ? [] : [late]);
  });

  it('name the limits that hold them back, and when coderd fails the first of them', () => {
    const [found] = waiting({ ages: batch(50, 26), pool: small, tookMs: 4 * MINUTE });
    expect(found).toEqual({
      code: 'prebuilds-waiting',
      organization: 'default',
      tags: {},
      jobs: 50,
      late: 42,
      failsAt: '2026-11-20T09:04:00.000Z',
      pool: 'cpu',
      limits: ['capped-at-prebuilds-max-tasks'],
    });
    expect(found && sentenceOf(found)).toBe(
      'organization "default", tags (untagged): 50 prebuilds wait for pool "cpu". At this rate coderd fails 42 of them from 20 November 2026 09:04:00 UTC on, because no daemon takes them within 30 min. Raise prebuilds.maxTasks, or let the presets keep fewer prebuilds',
    );
  });

  it('are in time if half of them are deletions, which are quick', () => {
    const jobOf = (transition: string, given: Partial<Job>) =>
      aJob({
        initiator_id: PREBUILDS_USER,
        metadata: { template_id: 't', workspace_build_transition: transition },
        ...given,
      });
    const past = (transition: string, minutes: number) =>
      Array.from({ length: 10 }, () => {
        const times = { started_at: ago(HOUR), completed_at: ago(HOUR - minutes * MINUTE) };
        return jobOf(transition, { status: 'succeeded', created_at: ago(HOUR), ...times });
      });
    const queue = (...transitions: readonly string[]) =>
      transitions.flatMap((transition) =>
        Array.from({ length: 12 }, () => jobOf(transition, { created_at: ago(16 * MINUTE) })),
      );
    const late = (...jobs: readonly Job[]): number => {
      const recentJobs = reading([...past('start', 4), ...past('delete', 1)]);
      const organization = anOrganization({ jobs: reading(jobs), recentJobs });
      const config = aConfig(aPool({ max: 5, prebuilds: { maxTasks: 4 } }));
      const { findings } = decide(aSnapshot({ organizations: [organization], version: 'v2.36.0' }), config);
      return findings.filter(({ code }) => code === 'prebuilds-waiting').length;
    };
    expect(late(...queue('start', 'start'))).toBe(1);
    expect(late(...queue('start', 'delete'))).toBe(0);
  });

  it('say how to end a pause', () => {
    const tags = Object.entries({ pause: 'all', 'pause-until': '2026-11-20T10:00:00Z' });
    const paused = tags.map(([key, value]) => ({ key: `coder-autoscaler:${key}`, value }));
    const service = { tags: [{ key: 'coder-autoscaler:pool', value: 'cpu' }, ...paused] };
    const sentences = waiting({ ages: batch(5, 26), service }).map(sentenceOf);
    expect(sentences).toEqual([expect.stringMatching(/fails 5 of them .+ Run `autoscaler resume cpu`$/)]);
  });
});
