/** A worker thread that runs random worlds. */
import { serveRequests } from '../../simulator/base/worker-pool.ts';
import { runRequest } from './worlds.ts';

serveRequests(runRequest);
