/** Pools and jobs of one user in random states. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { Action } from '../../../lambda/decision/model/plan.ts';
import { normalizeTags } from '../../../lambda/decision/model/tags.ts';
import { aPool, poolName } from '../../support/parts.ts';
import { runs } from '../../support/runs.ts';
import { uglyStates } from '../../support/ugly/ugly.ts';

const RUNS = runs(500);
const any = uglyStates({ view: 'any' });
const OF_NOBODY: PoolConfig = aPool({
  name: poolName('of-nobody'),
  tags: { scope: 'user', owner: 'nobody', a: '1' },
  auth: { kind: 'token', secret: { secret: 'token' } },
});

const written = (actions: readonly Action[]) => actions.map((action) => JSON.stringify(action));

it('plans the same for all other pools beside a pool of a user without jobs', () => {
  fc.assert(
    fc.property(any, ({ snapshot, config }) => {
      const plan = decide(snapshot, config);
      const beside = decide(snapshot, { ...config, pools: [...config.pools, OF_NOBODY] });
      expect(written(beside.actions)).toEqual(written(plan.actions));
      expect(beside.unserved.map(({ jobs }) => jobs)).toEqual(plan.unserved.map(({ jobs }) => jobs));
    }),
    RUNS,
  );
});

it('launches a task for a job of a user in a pool of this user only, and the other way round', () => {
  fc.assert(
    fc.property(any, ({ snapshot, config }) => {
      const launches = decide(snapshot, config).assignment.filter(({ served }) => served === 'by-launch');
      for (const { pool, tags } of launches) {
        const { scope, owner } = normalizeTags(config.pools.find(({ name }) => name === pool)?.tags ?? {});
        const job = normalizeTags(tags);
        expect({ scope, owner }).toEqual({ scope: job.scope, owner: job.owner });
      }
    }),
    RUNS,
  );
});
