import type { Backtest } from '../../lab/backtest/result.ts';
import { writeWhole } from '../whole-file.ts';

/** Throws InputError. */
export async function writeReport(file: string, result: Backtest): Promise<void> {
  // loaded here: charts and bundler take as long to load as all other commands together
  const { renderReport } = await import('../../lab/report/render.ts');
  writeWhole(file, renderReport(result));
}
