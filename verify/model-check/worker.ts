/** A worker thread of `npm run explore`. */
import { serveRequests } from '../../simulator/base/worker-pool.ts';
import { runRequest } from './run.ts';

serveRequests(runRequest);
