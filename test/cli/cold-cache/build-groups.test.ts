import { describe, expect, it } from 'vitest';
import { groupBuilds, type KnownBuild, knownBuild } from '../../../cli/cold-cache/build-groups.ts';
import type { DaemonId, EpochMs, JobId, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type { Daemon } from '../../../lambda/decision/model/snapshot.ts';

const TASK = '0123456789abcdef0123456789abcdef';
const at = (seconds: number): EpochMs => (seconds * 1000) as EpochMs;

/** A daemon that registered at second 100. */
const daemonOf = (name = `cpu-${TASK}`): Daemon => ({
  ...{ id: 'd1' as DaemonId, organization_id: 'o1' as OrganizationId, name, created_at: at(100), tags: {} },
});

type Given = readonly [version: string, startedS: number, status?: string];

const build = ([version, seconds, status = 'succeeded']: Given, index: number): KnownBuild => ({
  ...{ id: `b${index}`, workspace: 'w1', template: 't1', version, worker: 'd1' as DaemonId },
  ...{ startedAt: at(seconds), status, kind: 'person' },
});

const group = (builds: readonly Given[], daemon: Daemon | undefined = daemonOf()) =>
  groupBuilds(builds.map(build), new Map([[daemon.id, daemon]]), new Set(['cpu', 'cpu-large']));

const groupsOf = (builds: readonly Given[]): readonly string[] => group(builds).builds.map((it) => it.group);

describe('the group of a build', () => {
  const rows: readonly { builds: readonly Given[]; expected: readonly string[]; because: string }[] = [
    {
      ...{ builds: [['v1', 101]], expected: ['first'] },
      because: 'the daemon had just registered, so no job can have run before',
    },
    { builds: [['v1', 105]], expected: ['first'], because: 'five seconds are inclusive' },
    {
      ...{ builds: [['v1', 106]], expected: ['unsure'] },
      because: 'a dry run, which no list shows, may have run before',
    },
    {
      builds: [
        ['v1', 101],
        ['v1', 200],
      ],
      ...{ expected: ['first', 'warm'], because: 'the task has run this version' },
    },
    {
      builds: [
        ['v1', 900],
        ['v1', 1000],
      ],
      ...{ expected: ['unsure', 'warm'], because: 'a build is warm after another one, whatever came before' },
    },
    {
      builds: [
        ['v1', 101],
        ['v2', 200],
        ['v2', 300],
      ],
      ...{ expected: ['first', 'new', 'warm'], because: 'another version may have other providers' },
    },
    {
      builds: [
        ['v1', 101, 'failed'],
        ['v1', 200],
      ],
      ...{ expected: ['first', 'unsure'], because: 'a build that failed may have failed in its init' },
    },
    {
      builds: [
        ['v1', 101, 'canceled'],
        ['v1', 102],
      ],
      ...{ expected: ['unsure'], because: 'a canceled build is not counted, but it ran something' },
    },
    {
      builds: [
        ['v1', 200],
        ['v1', 101],
      ],
      ...{ expected: ['first', 'warm'], because: 'coderd lists builds by workspace, not in order' },
    },
  ];

  it.each(rows)('of $builds is $expected: $because', ({ builds, expected }) => {
    expect(groupsOf(builds)).toEqual(expected);
  });
});

describe('the builds of other daemons', () => {
  it('are left out if coderd does not list the daemon any more', () => {
    const grouped = groupBuilds([['v1', 101] as const].map(build), new Map(), new Set(['cpu']));
    expect(grouped).toEqual({ builds: [], omitted: { unlisted: 1, foreign: 0 } });
  });

  it.each([
    { name: `gpu-${TASK}`, because: 'the pool is not in the configuration' },
    { name: 'ip-10-0-0-1', because: 'a later task may have the same name' },
    { name: 'cpu-1', because: 'no task has this id' },
  ])('are left out for the name $name: $because', ({ name }) => {
    expect(group([['v1', 101]], daemonOf(name))).toEqual({
      builds: [],
      omitted: { unlisted: 0, foreign: 1 },
    });
  });

  it('belong to the pool whose whole name is before the task id', () => {
    const { builds } = group([['v1', 101]], daemonOf(`cpu-large-${TASK}`));
    expect(builds.map(({ pool }) => pool)).toEqual(['cpu-large']);
  });
});

describe('a build of coderd', () => {
  const timed = (given: { initiator_id?: string; reason?: string; started?: boolean }) =>
    knownBuild(
      {
        ...{ id: 'b1', template_version_id: 'v1', initiator_id: 'ann', reason: 'initiator', ...given },
        job: {
          ...{ id: 'j1' as JobId, status: 'succeeded' },
          ...(given.started === false ? {} : { started_at: at(1), worker_id: 'd1' as DaemonId }),
        },
      },
      { workspace: 'w1', template: 't1' },
    );

  it.each([
    { initiator_id: 'ann', reason: 'initiator', kind: 'person' },
    { initiator_id: 'ann', reason: 'cli', kind: 'person' },
    { initiator_id: 'ann', reason: 'autostart', kind: 'autostart' },
    { initiator_id: 'ann', reason: 'autostop', kind: 'stop' },
    { initiator_id: 'ann', reason: 'dormancy', kind: 'stop' },
    { initiator_id: 'c42fdf75-3097-471c-8c33-fb52454d81c0', reason: 'initiator', kind: 'prebuild' },
  ])('by $initiator_id with the reason $reason has the price of $kind', ({ kind, ...given }) => {
    expect(timed(given)?.kind).toBe(kind);
  });

  it('is not known until a daemon has begun it', () => {
    expect(timed({ started: false })).toBeUndefined();
  });
});
