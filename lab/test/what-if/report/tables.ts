/** Reads the tables of a report page. */
import type { Page } from 'playwright-core';
import * as z from 'zod';

const Row = z.strictObject({
  head: z.string(),
  cells: z.array(z.strictObject({ value: z.number().nullable(), text: z.string() })),
});
export type TableRow = z.infer<typeof Row>;

/** The body rows of a table: the heading, and the exact figure and the text of each cell. */
export async function rowsOf(page: Page, selector: string): Promise<readonly TableRow[]> {
  const rows = await page.evaluate(`[...document.querySelectorAll('${selector} tbody tr')].map((row) => ({
    head: row.querySelector('th')?.textContent.trim() ?? '',
    cells: [...row.querySelectorAll('td')].map((cell) => ({
      value: cell.querySelector('data') === null ? null : Number(cell.querySelector('data').value),
      text: (cell.querySelector('data') ?? cell).textContent,
    })),
  }))`);
  return z.array(Row).parse(rows);
}

/** The exact figures of all rows that have cells. */
export function valuesOf(rows: readonly TableRow[]): readonly (readonly (number | null)[])[] {
  return rows.filter(({ cells }) => cells.length > 0).map(({ cells }) => cells.map(({ value }) => value));
}

const UNITS: Readonly<Record<string, number>> = { '': 1, '%': 0.01, s: 1, min: 60 };

/**
 * The number that a cell shows. Hours are task-hours, or 3,600 s if the exact figure is far larger.
 */
export function readBack(text: string, value: number): number {
  const [, digits = '', unit = ''] = /^[<>$]*([\d.,e-]+)\s*(\S*)$/.exec(text) ?? [];
  const number = Number(digits.replaceAll(',', ''));
  if (unit === 'h') return value > number * 100 ? number * 3600 : number;
  return number * (UNITS[unit] ?? Number.NaN);
}
