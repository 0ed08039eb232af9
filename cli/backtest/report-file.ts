import type { Backtest } from '../../backtest/replay/result.ts';
import { writeWhole } from '../shared/whole-file.ts';

/** Throws InputError. */
export async function writeReport(file: string, result: Backtest): Promise<void> {
  // loaded here: charts and bundler take as long to load as all other commands together
  const { renderReport } = await import('../../backtest/report/render.ts');
  writeWhole(file, renderReport(result));
}
