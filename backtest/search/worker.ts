/** The script of a worker thread. It runs one order after the other. */

import { parentPort } from 'node:worker_threads';
import { BacktestError } from '../trace/backtest-error.ts';
import { type Order, type Report, runOrder } from './worker-pool.ts';

const port = parentPort;
if (port === null)
  throw new BacktestError(
    'starting a worker of the backtest: this is not a worker thread; run autoscaler backtest',
  );
const send = (report: Report): void => port.postMessage(report);
port.on('message', (order: Order) => {
  runOrder(order, (share) => send({ kind: 'progress', share })).then(
    (run) => send({ kind: 'done', run }),
    (error) => send({ kind: 'failed', error }),
  );
});
