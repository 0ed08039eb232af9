/** A worker thread of `npm run backtest:promises`. */
import { serveRequests } from '../../simulator/base/worker-pool.ts';
import { calibrate } from './calibrate.ts';

serveRequests(calibrate);
