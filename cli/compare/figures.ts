/** The figures that limits check, with their names for people. */
import type { Check } from './limits.ts';
import { dollars, type Format, mean, seconds } from './words.ts';

export const FIGURES: Readonly<Record<Check['figure'], { readonly name: string; readonly format: Format }>> =
  {
    dollarsPerMonth: { name: 'monthly cost of tasks', format: dollars },
    dollars: { name: 'cost of tasks', format: dollars },
    meanWaitS: { name: 'average wait of people', format: seconds },
    p95WaitS: { name: 'p95 wait of people', format: seconds },
    lostJobs: { name: 'jobs killed, given up or not over', format: mean },
    unfitJobs: { name: 'jobs without a pool', format: mean },
  };
