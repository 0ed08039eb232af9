/** A thread that runs the orders it is given, one after the other. */
import { parentPort } from 'node:worker_threads';
import { type Order, type Report, runOrder } from './worker-pool.ts';

const port = parentPort;
if (port === null)
  throw new Error('starting a worker of the backtest: this is no worker thread; run autoscaler backtest');
const say = (report: Report): void => port.postMessage(report);
port.on('message', (order: Order) => {
  runOrder(order, (share) => say({ kind: 'progress', share })).then(
    (run) => say({ kind: 'done', run }),
    (error) => say({ kind: 'failed', error }),
  );
});
