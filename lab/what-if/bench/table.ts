import type { Column } from '../../../cli/shared/plain-table.ts';

export type BenchTable = {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  /** Lines below the table. */
  readonly notes: readonly string[];
};
