/** A thread that runs the worlds it is told to. */
import { parentPort } from 'node:worker_threads';
import { type Order, runOrder } from './runners.ts';

const port = parentPort;
if (port === null)
  throw new Error(
    'starting a worker of sim:leaves: this is no worker thread; run verify/random-worlds/main.ts',
  );
port.on('message', (order: Order) => {
  runOrder(order).then((result) => port.postMessage(result));
});
