import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import type { Backtest } from '../../lab/backtest/result.ts';
import { InputError } from '../surroundings.ts';
import { writeWhole } from '../whole-file.ts';

/** To be asked before the minutes that a run takes. Throws InputError where nothing can be written. */
export function checkReportFile(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch (cause) {
    throw new InputError(`writing ${file}: ${(cause as Error).message}; give another file with --out`, {
      cause,
    });
  }
}

/** Throws InputError. */
export async function writeReport(file: string, result: Backtest): Promise<void> {
  // loaded here: charts and bundler take as long to load as all other commands together
  const { renderReport } = await import('../../lab/report/render.ts');
  writeWhole(file, renderReport(result));
}
