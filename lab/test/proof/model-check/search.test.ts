import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/runs.ts';
import { AS_IT_IS } from '../../../proof/model-check/explorations.ts';
import { GuardsModel } from '../../../proof/model-check/world/guards.ts';
import { Interned } from '../../../proof/model-check/world/interned.ts';
import { PoolCodes } from '../../../proof/model-check/world/pool-state.ts';
import { type Model, search } from '../../../proof/model-check/world/search.ts';
import { type ModelTask, NEW_TASK } from '../../../proof/model-check/world/task.ts';

/** A model whose steps double a number or add one, up to 100. */
function counting(isWrong: (value: number) => boolean): Model {
  return {
    initial: 1,
    expand: (value, emit, fail) => {
      if (isWrong(value)) fail('safety', `${value} is reached`, -1);
      if (value * 2 <= 100) emit(value * 2, 'is doubled', -1);
      if (value < 100) emit(value + 1, 'grows by one', 0);
    },
    describe: String,
  };
}

describe('search', () => {
  it('reaches every state once', () => {
    expect(search(counting(() => false))).toMatchObject({ states: 100, failure: undefined });
  });

  it('finds the shortest trace to a violation', () => {
    const { failure } = search(counting((value) => value === 10));
    expect(failure).toMatchObject({ property: 'safety', what: '10 is reached', steps: 5 });
    expect(failure?.trace.join('\n')).toBe(
      [
        '  0. initial state\n       1',
        '  1. is doubled\n       2',
        '  2. is doubled\n       4',
        '  3. task 1: grows by one\n       5',
        '  4. is doubled\n       10',
        '  => SAFETY: 10 is reached',
      ].join('\n'),
    );
  });

  it('stops at a state that is judged as a violation, and shows what follows from it', () => {
    const model: Model = {
      ...counting(() => false),
      judge: (value) =>
        value === 3
          ? { property: 'progress', what: 'three is odd', afterwards: ['and stays odd'] }
          : undefined,
    };
    const { failure } = search(model);
    expect(failure?.trace.slice(-2)).toEqual(['and stays odd', '  => PROGRESS: three is odd']);
  });
});

describe('the encoding of states', () => {
  it('unpacks the state that it packed', () => {
    const codes = new PoolCodes({ tasks: 3, jobs: 2 });
    const guards = ['leasing', 'working', 'draining', 'left', 'died'] as const;
    const kinds = guards.map((guard): ModelTask => ({ ...NEW_TASK, ecs: 'running', guard }));
    for (const kind of kinds) codes.kinds.idOf(kind);
    const task = fc.nat(kinds.length);
    const states = fc.record({
      ids: fc.tuple(task, task, task).map(([...ids]) => ids as number[]),
      desired: fc.nat(6),
      pending: fc.nat(2),
      isDeploying: fc.boolean(),
      isUnplaced: fc.boolean(),
      looksId: fc.nat(60_000),
    });
    fc.assert(
      fc.property(states, (state) => {
        const back = codes.empty();
        codes.unpack(codes.pack(state), back);
        expect(back).toEqual(state);
      }),
      runs(1_000),
    );
  });

  it('gives one number to tasks in any order', () => {
    const rules = { ...AS_IT_IS, hasLateLooks: false };
    const pair = search(new GuardsModel({ tasks: 2, jobs: 2 }, rules)).states;
    const single = search(new GuardsModel({ tasks: 1, jobs: 1 }, rules)).states;
    expect(pair).toBeLessThanOrEqual((single * (single + 1)) / 2);
    expect(pair).toBeGreaterThan(single * 10);
  });

  it('throws when a state has more different parts than can be numbered', () => {
    const interned = new Interned(String, 2);
    expect([interned.idOf(7), interned.idOf(8), interned.idOf(7)]).toEqual([0, 1, 0]);
    expect(() => interned.idOf(9)).toThrow(/more than 2 different parts/);
  });
});
