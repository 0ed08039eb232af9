import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Action, OverrideKind } from '../../../lambda/decision/model/plan.ts';
import { SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { tagsOfOverride } from '../../../lambda/decision/settings/overrides.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { World } from '../../../simulator/world.ts';
import { LookLog } from '../../../verify/random-worlds/look-log.ts';
import { drawPlan } from '../../../verify/random-worlds/world/plan.ts';

const READ_LAG_MS = 10 * SECOND_MS;

function aWorld() {
  const pools = [{ name: 'cpu', organization: 'default', tags: {} }];
  const world = new World({ ...drawPlan(1).world, pools, historyMs: 3_600_000 });
  const log = new LookLog({ world, readLagMs: READ_LAG_MS, print: undefined });
  const pass = (seconds: number) =>
    world.timeline.advanceTo(plusMs(world.timeline.now(), seconds * SECOND_MS));
  const override = (kind: OverrideKind, seconds: number) => {
    const until = new Date(world.timeline.now() + seconds * SECOND_MS).toISOString();
    const service = world.service('cpu');
    service.setTags({ ...service.state.tags, ...tagsOfOverride({ kind, until, by: 'anna', why: 'a test' }) });
  };
  pass(60);
  return { world, log, pass, override };
}

/** The result of a look with these actions. */
function resultOf(...actions: readonly object[]): LookResult {
  const done = actions.map((action) => ({ pool: 'cpu', why: 'test', ...action })) as unknown as Action[];
  const result = {
    plan: { actions: done, findings: [], pools: [] },
    outcome: { applied: done, refused: [], failures: [] },
    failures: [],
  };
  return result as unknown as LookResult;
}

const ASK = { kind: 'ask-to-leave', task: 'arn:1' };
const RAISE = { kind: 'set-desired', from: 1, to: 2 };
const LOWER = { kind: 'set-desired', from: 2, to: 1 };
const PROTECT = { kind: 'protect', task: 'arn:1' };

describe('pauseViolations', () => {
  it.each([
    { pause: 'pause', actions: [RAISE, ASK, LOWER], problems: 3, because: 'a pause forbids all of them' },
    { pause: 'pause', actions: [PROTECT], problems: 0, because: 'a protection saves a build' },
    { pause: 'pause-scale-in', actions: [RAISE, PROTECT], problems: 0, because: 'the pool may scale out' },
    { pause: 'pause-scale-in', actions: [ASK, LOWER], problems: 2, because: 'the pool must not scale in' },
    { pause: 'floor', actions: [RAISE, ASK, LOWER], problems: 0, because: 'a floor is not a pause' },
  ] as const)(
    'reports $problems problems for $actions.length actions under the override $pause: $because',
    ({ pause, actions, problems }) => {
      const { log, pass, override } = aWorld();
      override(pause, 3600);
      pass(60);
      log.add(resultOf(...actions), SECOND_MS);
      expect(log.problems).toHaveLength(problems);
    },
  );

  it.each([
    { setBefore: 12, lasts: 60, problems: 1, because: 'every read has seen the pause' },
    { setBefore: 10, lasts: 60, problems: 0, because: 'a lagging read may have missed the pause' },
    { setBefore: 12, lasts: 11, problems: 0, because: 'the pause has expired' },
  ])(
    'reports $problems problems for a pause of $lasts s set $setBefore s before the look ends: $because',
    ({ setBefore, lasts, problems }) => {
      const { log, pass, override } = aWorld();
      override('pause', lasts);
      pass(setBefore);
      log.add(resultOf(ASK), SECOND_MS);
      expect(log.problems).toHaveLength(problems);
    },
  );
});

it('LookLog reports a task once when it gets more than 20 drain requests', () => {
  const { log } = aWorld();
  for (let look = 0; look < 20; look++) log.add(resultOf(ASK), SECOND_MS);
  expect(log.problems).toEqual([]);
  for (let look = 0; look < 20; look++) log.add(resultOf(ASK), SECOND_MS);
  expect(log.problems).toEqual(['task arn:1 got more than 20 drain requests']);
});
