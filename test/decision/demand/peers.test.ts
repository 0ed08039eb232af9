/** Tag sets that belong to one of several stacks: who launches for them, and what the others say. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownerOf } from '../../../lambda/decision/demand/peers.ts';
import type { PromisedPlan } from '../../../lambda/decision/model/promise.ts';
import { reasonSentence } from '../../../lambda/explain/reason-text.ts';
import {
  actionsOf,
  all,
  type Change,
  iso,
  organizationIn,
  planOf,
  poolOf,
  withBuilds,
} from '../../support/planned.ts';
import { runs } from '../../support/runs.ts';
import { table } from '../../support/table.ts';

/** With the default start time of 90 s. */
const GRACE_S = 60 + 2 * 90;

const peersAre =
  (self: string, others: readonly string[]): Change =>
  (_, { pools }) => {
    for (const pool of pools as object[]) Object.assign(pool, { peers: { self, others } });
  };
const withPeers = (world: string, ...changes: readonly Change[]): PromisedPlan =>
  planOf(world, all(...changes)) as PromisedPlan;

/** The plans of two stacks in the same world, first the one to which the tag set belongs. */
const plansOf = (world: string, change: Change = () => {}): readonly PromisedPlan[] => {
  const stacks = [peersAre('eu', ['us']), peersAre('us', ['eu'])];
  const plans = stacks.map((peers) => withPeers(world, peers, change));
  return plans.toSorted((a, b) => leftIn(a) - leftIn(b) || launchedIn(b) - launchedIn(a));
};

const leftIn = ({ assignment }: Pick<PromisedPlan, 'assignment'>): number =>
  assignment.reduce((sum, { served, jobs }) => sum + (served === 'by-peer' ? jobs : 0), 0);

const launchedIn = ({ pools }: Pick<PromisedPlan, 'pools'>): number =>
  pools.reduce((sum, { desired: { from, to } }) => sum + Math.max(0, (to ?? 0) - (from ?? 0)), 0);

describe('a job that two stacks can run', () => {
  it.each(table<{ world: string; launches: readonly number[]; left: readonly number[]; because: string }>`
    world                           | launches  | left      | because
    cpu; job                        | ${[1, 0]} | ${[0, 1]} | it belongs to one of them
    cpu; job ${GRACE_S - 1}s        | ${[1, 0]} | ${[0, 1]} | the peer still has time
    cpu; job ${GRACE_S}s            | ${[1, 1]} | ${[0, 0]} | the peer has had a look and two starts
    cpu I1m; job                    | ${[0, 0]} | ${[0, 0]} | a free daemon of either stack takes any job
    cpu P; job                      | ${[0, 0]} | ${[0, 1]} | its stack has a daemon that starts
    cpu; job 5s; stranger           | ${[0, 0]} | ${[0, 0]} | so do free daemons of others
    cpu, retiring; job              | ${[0, 0]} | ${[0, 1]} | a retiring pool launches nothing
    cpu, paused; job                | ${[0, 0]} | ${[0, 1]} | nor does a paused one
    cpu; start in 60s    | ${[1, 0]} | ${[0, 0]} | only its stack is ready before it comes
    cpu; start ${GRACE_S - 1}s ago  | ${[1, 0]} | ${[0, 0]} | its stack still has time to wake
    cpu; start ${GRACE_S}s ago      | ${[1, 1]} | ${[0, 0]} | its stack has not woken for it
    cpu; stop ${GRACE_S + 599}s ago | ${[1, 0]} | ${[0, 0]} | a stop may be 10 minutes late
    cpu; stop ${GRACE_S + 600}s ago | ${[1, 1]} | ${[0, 0]} | it is later
    cpu, min 1                      | ${[1, 1]} | ${[0, 0]} | each stack has its own floor
    cpu, warm 1                     | ${[1, 1]} | ${[0, 0]} | a number of free daemons is each stack's own
  `)('$world: launches $launches, because $because', ({ world, launches, left }) => {
    const plans = plansOf(world);
    expect(plans.map(launchedIn)).toEqual(launches);
    expect(plans.map(leftIn)).toEqual(left);
  });

  it('is left with the name of the peer and the time, and promises no start', () => {
    const [, plan] = plansOf('cpu; job') as readonly [PromisedPlan, PromisedPlan];
    const { why, pending } = poolOf(plan, 'cpu');
    expect(pending).toBe(1);
    expect(why.map(reasonSentence)).toEqual([
      expect.stringMatching(
        /^1 pending job is left to stack (eu|us) until 20 November 2026 \d\d:\d\d:\d\d UTC$/,
      ),
    ]);
    const [row] = plan.pendingJobs;
    expect(row).toMatchObject({ why: 'left-to-peer', startsAt: null, pool: null });
    expect(row?.leftTo?.until).toBe(
      new Date(Date.parse(row?.createdAt ?? '') + GRACE_S * 1000).toISOString(),
    );
  });
});

describe('a busy daemon of a peer', () => {
  /** The daemon of others runs a build that began so long ago. */
  const buildingFor =
    (seconds: number): Change =>
    (snapshot) => {
      organizationIn(snapshot).jobs.items.push({
        ...{ id: 'theirs', status: 'running', worker_id: 'stranger-0', type: 'workspace_build', tags: {} },
        ...{ organization_id: 'org-default', created_at: iso(seconds), started_at: iso(seconds) },
      });
    };
  const quick = withBuilds(60, 60, 60, 60, 60);
  const slow = withBuilds(6000, 6000, 6000, 6000, 6000);

  it.each(table<{ world: string; record: Change; launches: readonly number[]; because: string }>`
    world                         | record      | launches  | because
    cpu; job; busy stranger       | ${quick}    | ${[0, 0]} | it is free before a new task has a daemon
    cpu; 2 jobs; busy stranger    | ${quick}    | ${[1, 0]} | it takes one job
    cpu; job; busy stranger       | ${slow}     | ${[1, 0]} | its build takes longer than a start
    cpu; job; busy stranger       | ${() => {}} | ${[1, 0]} | it is unknown how long builds take
    cpu; job; busy stranger [gpu] | ${quick}    | ${[1, 0]} | it does not take the job
  `)('makes $world launch $launches, because $because', ({ world, record, launches }) => {
    expect(plansOf(world, all(record, buildingFor(30))).map(launchedIn)).toEqual(launches);
  });

  it('does not count without peers', () => {
    const plan = planOf('cpu; job; busy stranger', all(quick, buildingFor(30)));
    expect(actionsOf(plan)).toEqual(['cpu 0->1 pending-jobs']);
  });
});

it('is left to no stack that shares a pool of another organization only', () => {
  const world = { pools: { cpu: {}, data: { organization: 'data' } }, pending: [{}] };
  const stacks = [
    ['eu', 'us'],
    ['us', 'eu'],
  ].map(([self = '', other = '']): Change => {
    return (_, { pools }) =>
      void Object.assign((pools as object[])[1] ?? {}, { peers: { self, others: [other] } });
  });
  expect(stacks.map((peers) => actionsOf(planOf(world, peers)))).toEqual(
    stacks.map(() => ['cpu 0->1 pending-jobs']),
  );
});

it('launches no more and no fewer tasks together than one stack', () => {
  const jobs = fc.record({ young: fc.integer({ min: 1, max: 15 }), idle: fc.integer({ min: 0, max: 3 }) });
  fc.assert(
    fc.property(jobs, ({ young, idle }) => {
      const world = `cpu${' I1m'.repeat(idle)}; ${young} jobs`;
      const [alone, ...both] = [planOf(world), ...plansOf(world)].map(launchedIn);
      // each stack counts all free daemons for its own jobs first: a look may launch too few, not too many
      expect(both.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(alone ?? 0);
      if (idle === 0) expect(both.reduce((a, b) => a + b, 0)).toBe(alone);
    }),
    runs(100),
  );
});

it('launches for a job twice at worst if only one stack names the other', () => {
  const plan = withPeers('cpu; job', peersAre('eu', ['us']));
  const without = planOf('cpu; job');
  expect(actionsOf(without)).toEqual(['cpu 0->1 pending-jobs']);
  expect(launchedIn(plan)).toBeLessThanOrEqual(1);
  const late = withPeers(`cpu; job ${GRACE_S}s`, peersAre('eu', ['nobody', 'no-one', 'never']));
  expect(actionsOf(late)).toEqual(['cpu 0->1 pending-jobs']);
});

it('gives each of three stacks its share, whatever the order of their names', () => {
  const keys = Array.from({ length: 3000 }, (_, index) => `job-${index}`);
  const owners = keys.map((key) => ownerOf(key, ['eu', 'us', 'ap']));
  expect(keys.map((key) => ownerOf(key, ['ap', 'us', 'eu']))).toEqual(owners);
  for (const name of ['eu', 'us', 'ap']) {
    const share = owners.filter((owner) => owner === name).length / owners.length;
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.37);
  }
});
