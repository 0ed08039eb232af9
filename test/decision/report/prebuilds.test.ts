/** The findings about presets whose prebuilds fail, and about prebuilds that a limit holds back. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import { PREBUILDS_USER } from '../../../lambda/decision/demand/record.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import type {
  Job,
  ReadingStatus,
  Service,
  Template,
  Workspace,
} from '../../../lambda/decision/model/snapshot.ts';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import {
  aConfig,
  ago,
  aJob,
  anOrganization,
  aPool,
  aService,
  aSnapshot,
  aTemplate,
  aWorkspace,
  HOUR,
  MINUTE,
  reading,
  SECOND,
} from '../../support/parts.ts';
import { table } from '../../support/table.ts';

type Given = {
  /**
   * The latest builds of the preset's prebuilt workspaces, newest first, 10 min apart. F: failed; X:
   * failed by the reaper; L: failed after 40 min of work; Q: failed at once; S: succeeded; P: pending; R: running; C: cancelled; D: a deletion that
   * failed; U: failed, of a user who has claimed it; O: failed, of an earlier version.
   */
  readonly builds: string;
  readonly limit?: number;
  readonly version?: string | null;
  readonly template?: Partial<Template>;
  readonly status?: ReadingStatus;
  readonly preset?: string | null | undefined;
  readonly names?: Readonly<Record<string, string>>;
  /** The age of the newest build. */
  readonly newestMs?: number;
};

const STATUSES: Readonly<Record<string, string>> = {
  S: 'succeeded',
  P: 'pending',
  R: 'running',
  C: 'canceled',
};

const MINUTES_UNTIL_END: Readonly<Record<string, number>> = { X: 30, L: 40 };

function prebuild(build: string, ageMs: number, preset: string | null | undefined): Workspace {
  const submitted = ago(ageMs);
  const ended = ago(ageMs - (MINUTES_UNTIL_END[build] ?? 1) * MINUTE);
  return aWorkspace({
    name: `prebuild-${ageMs / MINUTE}`,
    owner_id: build === 'U' ? 'anna' : PREBUILDS_USER,
    outdated: build === 'O',
    latest_build: {
      created_at: submitted,
      transition: build === 'D' ? 'delete' : 'start',
      ...(preset === undefined ? {} : { template_version_preset_id: preset }),
      job: {
        status: STATUSES[build] ?? 'failed',
        created_at: submitted,
        started_at: 'XQ'.includes(build) ? ended : ago(ageMs - SECOND),
        completed_at: ended,
      },
    },
  });
}

function findingsOf({ builds, newestMs = 40 * MINUTE, status = 'ok', ...given }: Given): readonly Finding[] {
  const preset = 'preset' in given ? given.preset : 'p1';
  const workspaces = [...builds.replaceAll(' ', '')].map((build, index) =>
    prebuild(build, newestMs + index * 10 * MINUTE, preset),
  );
  // coderd lists them in order of their random names
  const organization = anOrganization({
    workspaces: reading(workspaces.toReversed(), status),
    templates: reading([aTemplate({ name: 'devbox', ...given.template })]),
    presetNames: given.names,
  });
  const snapshot = aSnapshot({ organizations: [organization], version: given.version ?? 'v2.36.0' });
  const usual = aConfig(aPool());
  const config = { ...usual, coder: { ...usual.coder, prebuildsFailureHardLimit: given.limit ?? 3 } };
  return decide(snapshot, config).findings.filter(({ code }) => code.startsWith('prebuilds-'));
}

/** `failing 2/3`, `stopped 3/3`; nothing. */
const told = (given: Given): string =>
  findingsOf(given)
    .map((found) => ('preset' in found ? `${found.code.slice(10)} ${found.failed}/${found.limit}` : ''))
    .join();

it.each([
  {
    builds: 'FX',
    reaped: 1,
    because: 'the reaper fails a job that waited for 30 min, with its start as its end',
  },
  { builds: 'FL', reaped: 0, because: 'a daemon worked on it for 40 min' },
  { builds: 'FQ', reaped: 0, because: 'it failed within a minute' },
])('counts $reaped of $builds as given up while pending: $because', ({ builds, reaped }) => {
  expect(findingsOf({ builds })).toMatchObject([{ failed: 2, reaped }]);
});

describe('a preset', () => {
  it.each<Given & { readonly expected: string; readonly because: string }>([
    { builds: '', expected: '', because: 'it has no prebuilds' },
    { builds: 'SSSS', expected: '', because: 'all is well' },
    { builds: 'F SSS', expected: '', because: 'one failure can be chance' },
    { builds: 'F', expected: '', because: 'one failure can be chance' },
    { builds: 'SFFFF', expected: '', because: 'the newest has succeeded' },
    { builds: 'FSFFF', expected: '', because: 'a success came between' },
    { builds: 'FF', expected: 'failing 2/3', because: 'it is one from the limit' },
    { builds: 'FFSF', expected: 'failing 2/3', because: 'failures before a success do not count' },
    { builds: 'FFF', expected: 'stopped 3/3', because: 'it is at the limit' },
    { builds: 'FFFFF', expected: 'stopped 5/3', because: 'a large batch fails as a whole' },
    { builds: 'XXX', expected: 'stopped 3/3', because: 'the reaper fails jobs too' },
    { builds: 'CFFF', expected: '', because: 'a cancelled build has not failed' },
    { builds: 'RFFF', expected: 'failing 3/3', because: 'the next attempt runs and may succeed' },
    { builds: 'PPFF', expected: 'failing 2/3', because: 'the next attempts wait' },
    { builds: 'RSFF', expected: '', because: 'the newest that has ended has succeeded' },
    { builds: 'DDDFF', expected: 'failing 2/3', because: 'coderd counts starts only' },
    { builds: 'UUUFF', expected: 'failing 2/3', because: 'claimed ones do not count, as in coderd' },
    { builds: 'OOOOO', expected: '', because: 'its version was replaced' },
    { builds: 'FFOOO', expected: 'failing 2/3', because: 'only the active version counts' },
    { builds: 'F', limit: 1, expected: 'stopped 1/1', because: 'the limit is 1' },
    { builds: 'F', limit: 2, expected: '', because: 'one failure can be chance' },
    { builds: 'FF', limit: 2, expected: 'stopped 2/2', because: 'the limit is 2' },
    { builds: 'FF', limit: 4, expected: '', because: 'the limit is far' },
    { builds: 'FFF', limit: 4, expected: 'failing 3/4', because: 'it approaches the limit' },
    { builds: 'FFFFF', limit: 10, expected: '', because: 'the limit is far' },
    { builds: 'FFFFFF', limit: 10, expected: 'failing 6/10', because: 'it approaches the limit' },
    { builds: 'FF', limit: 0, expected: '', because: 'coderd goes on' },
    { builds: 'FFF', limit: 0, expected: 'failing 3/null', because: 'coderd goes on, in vain' },
    { builds: 'FFFF', version: 'v2.22.1', expected: 'failing 4/null', because: 'it has no limit yet' },
    { builds: 'FFF', version: 'v2.23.0', expected: 'stopped 3/3', because: 'it has the limit' },
    { builds: 'FFF', version: 'v0.0.0-devel', expected: 'stopped 3/3', because: 'builds of main have it' },
    { builds: 'FFF', preset: undefined, expected: '', because: 'coderd before 2.22 tells no presets' },
    { builds: 'FFF', preset: null, expected: '', because: 'the builds have no preset' },
    { builds: 'FFF', template: { deprecated: true }, expected: '', because: 'coderd wants no prebuilds' },
    { builds: 'FFF', status: 'truncated', expected: '', because: 'a success may be missing' },
    { builds: 'FFF', status: 'stale', expected: '', because: 'the list is old' },
    {
      builds: 'FF',
      newestMs: 9 * 24 * HOUR,
      expected: 'failing 2/3',
      because: 'coderd still counts them',
    },
    {
      builds: 'RFF',
      newestMs: 3 * HOUR,
      expected: '',
      because: 'coderd does not try for hours: these failures and that build have nothing in common',
    },
  ])('with the builds "$builds" (limit $limit, $version) is "$expected": $because', (row) => {
    expect(told(row)).toBe(row.expected);
  });

  it('is told apart from the other presets and templates, which have their own', () => {
    const mixed = [1, 2, 3].flatMap((index) => [
      prebuild('F', index * 10 * MINUTE, 'p2'),
      prebuild('F', index * 10 * MINUTE, index === 1 ? 'p3' : 'p1'),
      { ...prebuild('S', index * 10 * MINUTE, 'p4'), template_id: 'other' },
    ]);
    const organization = anOrganization({ workspaces: reading(mixed) });
    const { findings } = decide(aSnapshot({ organizations: [organization] }), aConfig(aPool()));
    expect(findings).toMatchObject([
      { code: 'prebuilds-failing', preset: 'p1', failed: 2, template: 'template' },
      { code: 'prebuilds-stopped', preset: 'p2', failed: 3, template: 'template' },
    ]);
  });

  it('never fails the look', () => {
    expect(findingsOf({ builds: 'FFF' }).map(({ code }) => code)).not.toContainEqual(
      expect.stringMatching(/-(?:failed|forbidden|truncated)$/),
    );
  });
});

describe('the sentence about a preset', () => {
  const sentence = (given: Given): string => findingsOf(given).map(sentenceOf).join('\n');

  it('says how near the limit is, and where to look', () => {
    expect(sentence({ builds: 'FFS' })).toBe(
      'organization "default", template "devbox", preset "p1": the newest 2 prebuilds failed. coderd makes no more of them once the newest 3 have failed. Read the build log of prebuilds/prebuild-40 of 20 November 2026 08:20:00 UTC, and activate a fixed version of the template',
    );
  });

  it('says that the next attempt decides if it has begun', () => {
    expect(sentence({ builds: 'RFFF' })).toContain(
      'the newest 3 prebuilds failed. The next one has begun. If it fails too, coderd makes no more of them. Read',
    );
  });

  it('says both ways out once coderd has stopped', () => {
    expect(sentence({ builds: 'FFFF' })).toBe(
      'organization "default", template "devbox", preset "p1": the newest 4 prebuilds failed, so coderd makes no more of them (its limit is 3). Read the build log of prebuilds/prebuild-40 of 20 November 2026 08:20:00 UTC, and activate a fixed version of the template. If the template is not the cause, delete the failed prebuilds, and coderd tries again',
    );
  });

  it('blames the pool, not the template, if no daemon took the jobs in time', () => {
    expect(sentence({ builds: 'XXX' })).toBe(
      'organization "default", template "devbox", preset "p1": the newest 3 prebuilds failed, so coderd makes no more of them (its limit is 3). No daemon took their jobs within 30 min. Raise prebuilds.maxTasks or max of the pool that runs them. Then delete the failed prebuilds, and coderd tries again',
    );
    expect(sentence({ builds: 'XX' })).toMatch(/within 30 min\. Raise [^.]+\.maxTasks or max of the pool/);
    expect(sentence({ builds: 'XFF' })).toContain('No daemon took 1 of their jobs within 30 min. Read');
  });

  it('has the name of the preset if it is known, on one line', () => {
    const names = { p1: 'Frankfurt\n"large"' };
    expect(sentence({ builds: 'FFF', names })).toContain('preset "Frankfurt\\n\\"large\\"": the newest');
    expect(sentence({ builds: 'FFF', names: { p1: 'a\u009b2J\u202eb' } })).toContain(
      'preset "a\\u009b2J\\u202eb": the newest',
    );
    expect(sentence({ builds: 'FFF', names: { p2: 'Paris' } })).toContain('preset "p1": the newest');
  });

  it('says that coderd goes on if it has no limit', () => {
    expect(sentence({ builds: 'FFF', limit: 0 })).toContain(
      'coderd tries again, and waits longer after each',
    );
  });
});

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
