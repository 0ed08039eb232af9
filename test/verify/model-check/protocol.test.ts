/** The smallest explorations of the protocol; the whole ones are `npm run explore`. */
import { describe, expect, it } from 'vitest';
import { AS_IT_IS } from '../../../verify/model-check/explorations.ts';
import { MUTANTS } from '../../../verify/model-check/mutants.ts';
import { caughtLines, exploredLines, summaryOf } from '../../../verify/model-check/report.ts';
import { catchVariant, explore, proveAssumptions, SMALL } from '../../../verify/model-check/run.ts';
import { rows } from '../../support/runs.ts';

describe('the protocol as it is', () => {
  it.each(rows(SMALL, 2))('violates nothing: $name, $bound.tasks task(s)', (exploration) => {
    const { found } = explore(exploration);
    expect(found.failure?.trace.join('\n')).toBeUndefined();
    expect(found.states).toBeGreaterThan(100);
  });
});

describe('a mutant of the protocol', () => {
  const OF_TWO_TASKS: Readonly<Record<string, string>> = {
    'the count is lowered beside a task that is starting': 'count',
    'the count is lowered beside a task that is unguarded': 'count',
    'what ECS cannot place is given up beside a task that is unguarded': 'safety',
  };
  const OF_TWO_POOLS: Readonly<Record<string, string>> = {
    'maxTasks bounds each pool alone': 'count',
    'tasks that leave take no room': 'count',
    'what ECS cannot place takes room': 'progress',
    'stock makes no room for the job of another pool': 'progress',
  };
  const PROPERTY: Readonly<Record<string, string>> = {
    'an ask in minutes': 'safety',
    'released before the daemon exits': 'safety',
    'the count is lowered before the task has left': 'count',
    'an expired protection is taken for "left"': 'count',
    'a renewal overwrites an ask': 'safety',
    'no read-back before the daemon starts': 'safety',
    'the count is lowered during a deployment': 'count',
    'a missing daemon row is taken for "left"': 'count',
    'no drain when blind for 6 h': 'safety',
    'no 24 h rule: no lease that runs out, or has, makes it drain': 'safety',
    'a refused renewal is no ask': 'progress',
    'a task that boots is taken for one that has left': 'count',
    ...OF_TWO_TASKS,
    ...OF_TWO_POOLS,
  };

  it.each(rows(MUTANTS, 4))('is caught: $name', ({ name, variant }) => {
    const { by } = catchVariant(name, variant);
    expect(by?.failure.property).toBe(PROPERTY[name]);
    expect(by?.failure.trace.length).toBeGreaterThan(by?.failure.steps ?? 0);
  });

  it.each(
    rows(
      MUTANTS.filter(({ name }) => name in OF_TWO_TASKS),
      1,
    ),
  )('takes two tasks to show: $name', ({ name, variant }) => {
    const { by } = catchVariant(name, variant);
    expect(by?.exploration.bound.tasks).toBe(2);
  });

  it.each(
    rows(
      MUTANTS.filter(({ name }) => name in OF_TWO_POOLS),
      1,
    ),
  )('takes two pools to show: $name', ({ name, variant }) => {
    const { by } = catchVariant(name, variant);
    expect(by?.exploration.name).toContain('two pools');
  });

  it('is of a name of its own, and there are ten at least', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    expect(MUTANTS.map(({ name }) => name).sort()).toEqual(Object.keys(PROPERTY).sort());
    expect(MUTANTS.length).toBeGreaterThanOrEqual(10);
  });

  it('is shown by a trace that a person can read', () => {
    const mutant = MUTANTS.find(({ name }) => name.startsWith('no read-back'));
    const trace = mutant && catchVariant(mutant.name, mutant.variant).by?.failure.trace.join('\n');
    expect(trace).toContain('  1. task 1: ECS starts it');
    expect(trace).toContain('the guard sees no-lease-read');
    expect(trace).toContain('[new, working, UNPROTECTED, daemon starting');
    expect(trace).toContain('=> SAFETY: task 1: ECS chooses to stop it');
  });
});

describe('what safety rests on beside the protocol', () => {
  it('is needed: without it there is a violation', () => {
    for (const { name, by } of proveAssumptions()) expect(by?.failure.property, name).toBe('safety');
  });
});

describe('the report', () => {
  const [exploration] = SMALL;
  const explored = exploration && explore(exploration);
  const broken = exploration && explore(exploration, { ...AS_IT_IS, ask: 1 });

  it('counts violations and mutants', () => {
    if (explored === undefined || broken === undefined) throw new Error('there is no exploration');
    const uncaught = { name: 'as it is', by: undefined, states: 1 };
    const mutants = [uncaught, catchVariant('an ask in minutes', { ...AS_IT_IS, ask: 1 })];
    const summary = summaryOf({ explored: [explored, broken], mutants, assumptions: [], seconds: 1.26 });
    expect(summary).toMatchObject({
      states: explored.found.states + broken.found.states,
      violations: 1,
      mutants: { caught: 1, of: 2 },
      seconds: 1.3,
      explorations: [{ tasks: 1, jobs: 1 }, { violates: 'safety' }],
    });
    expect(mutants.flatMap(caughtLines).join('\n')).toMatch(
      /NOT CAUGHT {2}as it is[\s\S]*caught {2}an ask in minutes/,
    );
  });

  it('shows the trace of a violation', () => {
    if (broken === undefined) throw new Error('there is no exploration');
    expect(exploredLines(broken).join('\n')).toMatch(
      /VIOLATION of safety[\s\S]*six hours pass[\s\S]*=> SAFETY/,
    );
  });
});
