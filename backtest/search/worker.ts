/** A worker thread of a backtest. */

import { serveRequests } from '../../simulator/base/worker-pool.ts';
import { runOrder } from './worker-pool.ts';

serveRequests(runOrder);
