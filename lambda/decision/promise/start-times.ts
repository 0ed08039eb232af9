/**
 * How long the two phases of a start take in one pool, learned from the tasks that ECS lists. A pool
 * that comes from zero has none: then from the last start that was seen, or from the setting.
 */
import { poolOfPart } from '../model/brands.ts';
import { partition } from '../model/collections.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { UNTIL_LOOK_MS } from '../stock/replay.ts';
import { isComing } from '../supply/capacity.ts';
import { awsTimeOf, type PoolView } from '../supply/supply.ts';
import { type ExpectedPhase, learnPhase, type StartPhase } from './start-phase.ts';

export type StartTimes = {
  /** From when ECS creates a task until its container runs. */
  readonly boot: StartPhase;
  /** From then until its daemon has registered. */
  readonly register: StartPhase;
};

/** An assumption: the container takes most of a start. */
const BOOT_SHARE = 0.85;
/**
 * Assumptions. People state a time that most starts keep, so the median is below it; and it says
 * less than a start that was seen some hours ago.
 */
const STATED = { share: 0.6, starts: 0.5 } as const;
const EARLIER = { share: 1, starts: 1 } as const;

/** Learns the start times of a pool. */
export function learnStartTimes(view: PoolView, snapshot: Snapshot): StartTimes {
  const now = awsTimeOf(snapshot);
  const seen = view
    .seenStarts()
    .flatMap(({ tookMs, afterRunningMs }) =>
      afterRunningMs === undefined ? [] : [{ bootMs: tookMs - afterRunningMs, registerMs: afterRunningMs }],
    );
  const coming = view.tasks.filter(isComing).map(({ task }) => task);
  const [running, booting] = partition(coming, ({ startedAt }) => startedAt !== undefined);
  const expected = expectedPhases(view, snapshot);
  return {
    boot: learnPhase({
      finished: [
        ...seen.map(({ bootMs }) => bootMs),
        ...running.map(({ createdAt = now, startedAt = now }) => startedAt - createdAt),
      ],
      ages: booting.map(({ createdAt = now }) => now - createdAt),
      expected: expected.boot,
    }),
    register: learnPhase({
      finished: seen.map(({ registerMs }) => registerMs),
      ages: running.map(({ startedAt = now }) => now - startedAt),
      expected: expected.register,
    }),
  };
}

function expectedPhases(
  { pool, organization }: PoolView,
  { stock }: Snapshot,
): { readonly boot: ExpectedPhase; readonly register: ExpectedPhase } {
  const choice = stock?.choices.find(
    ({ organizationId, pools }) =>
      organizationId === organization?.id && pools.includes(poolOfPart(pool.name)),
  );
  const { share, starts } = choice?.startMs === undefined ? STATED : EARLIER;
  const seenMs = choice?.startMs && Math.max(1_000, choice.startMs - UNTIL_LOOK_MS);
  const startMs = share * (seenMs ?? pool.startTimeMs);
  return {
    boot: { medianMs: BOOT_SHARE * startMs, starts },
    register: { medianMs: (1 - BOOT_SHARE) * startMs, starts },
  };
}
