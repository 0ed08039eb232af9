/** A worker thread: runs the world of each message that it receives, and posts the result. */
import { parentPort } from 'node:worker_threads';
import { SimulatorError } from '../../simulator/base/simulator-error.ts';
import { runRequest, type WorldRequest } from './runners.ts';

const port = parentPort;
if (port === null)
  throw new SimulatorError(
    'starting a worker of sim:leaves: this is not a worker thread; run verify/random-worlds/main.ts',
  );
port.on('message', (request: WorldRequest) => {
  runRequest(request).then((result) => port.postMessage(result));
});
