/**
 * Events in any order, each of which may die after any of its calls, beside tasks that come and go.
 * No task may ever lose its key, and in the end one key is left, which fits the pool.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ROTATION_STEPS } from '../../lab/world/secrets/model.ts';
import type { ManagedPool } from '../../lambda/keys/model/pool.ts';
import { IS_FULL, runs } from '../support/runs.ts';
import { addForeignKey, CPU, crashAfter, HOUR, KeyLab, MINUTE, revive } from './key-lab.ts';

const POOLS: readonly ManagedPool[] = [
  CPU,
  { ...CPU, tags: { environment: 'cloud' } },
  { ...CPU, organization: 'data' },
];
const NEVER = 1_000;

const crash = fc.oneof(fc.constant(NEVER), fc.nat({ max: 14 }));
const deployment = fc.record({
  kind: fc.constant('deploy' as const),
  to: fc.constantFrom(...POOLS),
  /** CloudFormation changes the function's configuration before the resource, or later. */
  isFunctionFirst: fc.boolean(),
  crash,
});
const move = fc.oneof(
  { weight: 3, arbitrary: deployment },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rotate' as const), crash }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sweep' as const), crash }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'start a task' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'stop all tasks' as const }) },
  // Their tasks run on, and connect again when the network is back.
  { weight: 2, arbitrary: fc.constant({ kind: 'cut all connections' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'write garbage' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(MINUTE, 15 * MINUTE, 3 * HOUR),
    }),
  },
);
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

async function play(lab: KeyLab, done: Move): Promise<void> {
  if (done.kind === 'start a task') lab.startTask();
  else if (done.kind === 'stop all tasks') lab.stopTasks();
  else if (done.kind === 'cut all connections') for (const { connection } of lab.tasks) connection.close();
  else if (done.kind === 'write garbage') lab.secrets.put(lab.secretName('cpu'), 'hello');
  else if (done.kind === 'pass') lab.pass(done.ms);
  else {
    crashAfter(lab, done.crash);
    await serve(lab, done).catch(() => {});
    revive(lab);
  }
}

async function serve(lab: KeyLab, done: Extract<Move, { readonly crash: number }>): Promise<void> {
  if (done.kind === 'sweep') await lab.sweep();
  else if (done.kind === 'deploy') {
    if (done.isFunctionFirst) lab.pools = [done.to];
    await lab.resource('Update', { pool: done.to }).finally(() => {
      lab.pools = [done.to];
    });
  } else {
    const token = lab.secret().withStage('AWSPENDING');
    const isOpen = token !== undefined && !token.stages.has('AWSCURRENT');
    const request = isOpen ? token.id : lab.announce();
    for (const step of ROTATION_STEPS) await lab.step(step, request);
  }
}

it('never takes the key of a task away, and ends with one key that fits the pool', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 30 }), async (moves) => {
      const lab = new KeyLab();
      addForeignKey(lab, 'by-hand');
      await lab.resource('Create');
      for (const done of moves) {
        await play(lab, done);
        expect(lab.lostTasks(), `after ${done.kind}`).toEqual([]);
      }
      await serve(lab, { kind: 'rotate', crash: NEVER });
      await lab.sweep();
      const [pool] = lab.pools;
      expect(lab.workingKey()).toMatchObject({
        tags: pool?.tags,
        organizationId: lab.coderd.organizationId(pool?.organization ?? ''),
      });
      lab.stopTasks();
      lab.pass(25 * HOUR);
      await lab.sweep();
      expect(lab.ownKeys().map(({ id }) => id)).toEqual([lab.workingKey()?.id]);
      expect(lab.keyNames()).toContain('by-hand');
    }),
    // each run plays up to 30 events
    IS_FULL ? runs(1_000) : runs(400),
  );
});
