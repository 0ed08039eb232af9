import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../lambda/config/load.ts';
import { SMALL_TEAM } from '../../what-if/scenarios/special.ts';
import { orderOf } from '../../what-if/search/compare.ts';
import { type Order, startWorkerPool, WorkerPoolError } from '../../what-if/search/worker-pool.ts';
import { generateTrace } from '../../what-if/trace/generate/generate.ts';

const trace = generateTrace(SMALL_TEAM, { seed: 1, days: 1 });
const { config } = loadConfig(SMALL_TEAM.config);
const order = (driver: Order['driver']): Order =>
  orderOf({ ...{ trace, config, seed: 1, valueOfMinute: 1, region: 'us-east-1' } }, driver, false);
const FLEET = order({ policy: 'static', settings: { share: 1 } });

describe('a worker pool', () => {
  it.each([1, 2])('of %i threads rejects an order that fails, and runs the next one', async (threads) => {
    const workerPool = startWorkerPool(threads);
    const unknown = workerPool.run(order({ policy: 'nobody', settings: {} }));
    const next = workerPool.run(FLEET);
    await expect(unknown).rejects.toThrow('finding policy "nobody": the backtest has only static, ');
    await expect(next).resolves.toMatchObject({ figures: { jobs: { submitted: trace.jobs.length } } });
    await workerPool.close();
  });

  it('rejects an order when its thread ends early', async () => {
    const workerPool = startWorkerPool(2);
    const run = workerPool.run(FLEET);
    void workerPool.close();
    await expect(run).rejects.toBeInstanceOf(WorkerPoolError);
    await expect(run).rejects.toThrow(/^running policy "static": its thread ended early \(exit code \d\); /);
  });
});
