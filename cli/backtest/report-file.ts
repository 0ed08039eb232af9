import type { Backtest } from '../../backtest/replay/result.ts';
import { writeWhole } from '../shared/whole-file.ts';

/** Writes the result as an HTML report. Throws InputError. */
export async function writeReport(file: string, result: Backtest): Promise<void> {
  // imported only when needed: charts and bundler take as long to load as all commands together
  const { renderReport } = await import('../../backtest/report/render.ts');
  writeWhole(file, renderReport(result));
}
