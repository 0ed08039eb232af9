/**
 * Runs some of the smallest explorations of the protocol. `.ci/run` runs the small ones with all
 * mutants, and `.ci/nightly` all: `npm run explore`.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { sample } from '../../../../test/support/runs.ts';
import { AS_IT_IS } from '../../../proof/model-check/explorations.ts';
import { ASSUMPTIONS, MUTANTS } from '../../../proof/model-check/mutants.ts';
import { caughtLines, exploredLines, summaryOf } from '../../../proof/model-check/report.ts';
import {
  catchVariant,
  type Explored,
  explore,
  exploreOnThreads,
  runRequest,
  SMALL,
} from '../../../proof/model-check/run.ts';
import type { Property } from '../../../proof/model-check/world/search.ts';

describe('the protocol as it is', () => {
  it.each(sample(SMALL, 1))('violates no property: $name, $bound.tasks task(s)', (exploration) => {
    const { found } = explore(exploration);
    expect(found.failure?.trace.join('\n')).toBeUndefined();
    expect(found.states).toBeGreaterThan(100);
  });
});

/** What each mutant violates, and what the exploration must have that shows it. */
const MUST_VIOLATE: Readonly<
  Record<string, readonly [property: Property, shownBy?: 'two tasks' | 'two pools']>
> = {
  'a drain request sets a few hours instead of 23 h': ['safety'],
  'the guard releases the protection before the daemon exits': ['safety'],
  'the autoscaler lowers the count before the task has left': ['count'],
  'the autoscaler takes an expired protection for "left"': ['count'],
  'the guard renews over a drain request': ['safety'],
  'the guard starts the daemon without reading the lease back': ['safety'],
  'the autoscaler lowers the count during a deployment': ['count'],
  'the autoscaler takes a missing daemon row for "left"': ['count'],
  'the guard does not drain after it could not look for 6 h': ['safety'],
  'the guard does not drain when its lease runs out or has expired': ['safety'],
  'the guard does not drain when nothing renews its lease any more': ['safety'],
  'the guard does not drain after two refused renewals': ['progress'],
  'the autoscaler takes a starting task for "left"': ['count'],
  'the autoscaler lowers the count while a task is starting': ['count', 'two tasks'],
  'the autoscaler lowers the count while a task is unguarded': ['count', 'two tasks'],
  'the autoscaler gives up tasks that ECS cannot place while a task is unguarded': ['safety', 'two tasks'],
  'the autoscaler raises a count that is below the tasks above max': ['count', 'two tasks'],
  'where starts keep failing, the autoscaler gives up starting tasks beside an unguarded one': [
    'safety',
    'two tasks',
  ],
  'maxTasks limits each pool alone': ['count', 'two pools'],
  'leaving tasks do not count against maxTasks': ['count', 'two pools'],
  'tasks that ECS cannot place count against maxTasks': ['progress', 'two pools'],
  'a stock daemon does not drain for a job of another pool': ['progress', 'two pools'],
};

describe('a mutant of the protocol', () => {
  it.each(sample(MUTANTS, 1))('is caught by an exploration: $name', (mutant) => {
    const { by } = catchVariant(mutant);
    const [property, shownBy] = MUST_VIOLATE[mutant.name] ?? [];
    expect(by?.failure.property).toBe(property);
    expect(by?.failure.trace.length).toBeGreaterThan(by?.failure.steps ?? 0);
    if (shownBy === 'two tasks') expect(by?.exploration.bound.tasks).toBe(2);
    if (shownBy === 'two pools') expect(by?.exploration.name).toContain('two pools');
  });

  it('has a unique name, and there are at least ten', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    expect(MUTANTS.map(({ name }) => name).sort()).toEqual(Object.keys(MUST_VIOLATE).sort());
    expect(MUTANTS.length).toBeGreaterThanOrEqual(10);
  });

  it('is shown by a readable trace', () => {
    const mutant = MUTANTS.find(({ name }) => name.includes('reading the lease back'));
    const trace = mutant && catchVariant(mutant).by?.failure.trace.join('\n');
    expect(trace).toContain('  1. task 1: ECS starts it');
    expect(trace).toContain('the guard sees no-lease-read');
    expect(trace).toContain('[new, working, UNPROTECTED, daemon starting');
    expect(trace).toContain('=> SAFETY: task 1: ECS chooses to stop it');
  });
});

describe('an assumption behind safety', () => {
  it.each(sample(ASSUMPTIONS, 1))('is needed, as there is a violation without it: $name', (mutant) => {
    expect(catchVariant(mutant).by?.failure.property).toBe('safety');
  });
});

describe('the threads of npm run explore', () => {
  it('run an exploration as this thread does', async () => {
    const threads = exploreOnThreads(2, 'small');
    // the others are ended with the threads
    for (const running of [threads.explored, threads.mutants, threads.assumptions].flat())
      (running as Promise<unknown>).catch(() => {});
    onTestFinished(threads.close);
    const { seconds: _, ...first } = await (threads.explored[0] ?? expect.unreachable());
    const { seconds: __, ...alone } = runRequest({ list: 'small', index: 0 }) as Explored;
    expect(first).toEqual(alone);
  });
});

describe('the report of npm run explore', () => {
  const [exploration] = SMALL;
  const explored = exploration && explore(exploration);
  const broken = exploration && explore(exploration, { ...AS_IT_IS, ask: 1 });

  it('counts violations and mutants', () => {
    if (explored === undefined || broken === undefined) throw new Error('there is no exploration');
    const uncaught = { name: 'as it is', by: undefined, states: 1 };
    const mutants = [
      uncaught,
      catchVariant({ name: 'a short drain request', variant: { ...AS_IT_IS, ask: 1 } }),
    ];
    const summary = summaryOf({ explored: [explored, broken], mutants, assumptions: [], seconds: 1.26 });
    expect(summary).toMatchObject({
      states: explored.found.states + broken.found.states,
      violations: 1,
      mutants: { caught: 1, of: 2 },
      seconds: 1.3,
      explorations: [{ tasks: 1, jobs: 1 }, { violates: 'safety' }],
    });
    expect(mutants.flatMap(caughtLines).join('\n')).toMatch(
      /NOT CAUGHT {2}as it is[\s\S]*caught {2}a short drain request/,
    );
  });

  it('prints the trace of a violation', () => {
    if (broken === undefined) throw new Error('there is no exploration');
    expect(exploredLines(broken).join('\n')).toMatch(
      /VIOLATION of safety[\s\S]*six hours pass[\s\S]*=> SAFETY/,
    );
  });
});
