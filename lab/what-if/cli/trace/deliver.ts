/** Writes a trace to a file or to standard output, and says what it contains. */
import { type CliEnvironment, UsageError } from '../../../../cli/shared/cli-environment.ts';
import { isoTime } from '../../../../lambda/decision/model/brands.ts';
import { some } from '../../../../lambda/explain/format.ts';
import { JOB_KINDS, type Trace } from '../../trace/trace.ts';
import { writeTrace } from '../../trace/write.ts';
import { joined, writeWhole } from './whole-file.ts';

type Place = {
  /** A file; `-` is standard output. */
  readonly out: string;
  readonly json: boolean;
};

/** Throws UsageError: standard output holds one document. */
export function checkSummaryPlace({ out, json }: Place): void {
  if (json && out === '-')
    throw new UsageError('--json needs --out FILE: without it, standard output has the trace, as JSON lines');
}

/** `note` follows the summary, `fields` come into its JSON document. Throws InputError. */
export function deliver(
  trace: Trace,
  { out: file, json }: Place,
  { note = '', fields = {} }: { readonly note?: string; readonly fields?: object },
  { out, err }: CliEnvironment,
): void {
  if (file === '-') for (const text of joined(writeTrace(trace))) out(text);
  else writeWhole(file, writeTrace(trace));
  if (json) out(`${JSON.stringify({ ...summaryDocument(trace), out: file, ...fields }, null, 2)}\n`);
  else err(`${file === '-' ? '' : `wrote ${file}: `}${summaryText(trace)}${note}\n`);
}

export function summaryDocument(trace: Trace) {
  const { name, from, to, timezone, jobs } = trace;
  const kinds = Object.fromEntries(countsOf(trace));
  return { version: 1, name, from: isoTime(from), to: isoTime(to), timezone, jobs: jobs.length, kinds };
}

/** `5 jobs from 2026-03-02T00:00:00.000Z to 2026-03-09T00:00:00.000Z (3 user, 2 autostart)` */
export function summaryText(trace: Trace): string {
  const kinds = countsOf(trace)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`);
  const period = `from ${isoTime(trace.from)} to ${isoTime(trace.to)}`;
  return `${some(trace.jobs.length, 'job')} ${period} (${kinds.join(', ')})`;
}

function countsOf({ jobs }: Trace): readonly (readonly [kind: string, count: number])[] {
  return JOB_KINDS.map((kind) => [kind, jobs.filter((job) => job.kind === kind).length]);
}
