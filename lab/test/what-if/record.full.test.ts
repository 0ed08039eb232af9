/** Whole runs over a day in which Lambda ends the process every 1 to 6 hours. */
import { expect, it } from 'vitest';
import { aDeployment, aTrace, aTraceJob, atSecond, runOurs } from './support.ts';

const DAY_S = 24 * 3600;
/** Four builds of one minute every 20 minutes, in workspaces that are gone afterwards. */
const jobs = Array.from({ length: DAY_S / 1200 }, (_, index) => index).flatMap((index) =>
  [0, 5, 10, 15].map((second) => aTraceJob({ at: atSecond(index * 1200 + ((index * 7919) % 600) + second) })),
);
const trace = aTrace({ to: atSecond(DAY_S), jobs });
const config = aDeployment([{ min: 0 }]);

/** As the configuration has them. */
const PRICES = { valueOfMinute: 0.1, dollarsPerHour: () => 0.05 };

const runWith = async (options: { isRecordDenied: boolean }) =>
  (await runOurs({ trace, config, ...options, ...PRICES })).figures;

it('costs 30 percent less if the record survives the cold starts, and kills no build either way', async () => {
  const [kept, lost] = await Promise.all([
    runWith({ isRecordDenied: false }),
    runWith({ isRecordDenied: true }),
  ]);
  expect(kept.dollars.total).toBeLessThan(0.7 * lost.dollars.total);
  // with three daemons, which then serve all but one of each four, the day costs $9.58
  expect(kept.dollars.total).toBeLessThan(7);
  for (const { jobs } of [kept, lost]) expect(jobs).toMatchObject({ killed: 0, reaped: 0 });
});
