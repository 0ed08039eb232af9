/**
 * Standard Workload Format (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html): comments
 * with `;`, then one job a line with 18 numbers. -1 is unknown.
 */
import { shownText } from '../../../lambda/config/problems/shown.ts';
import { timeZoneProblem } from '../../../lambda/config/schema/names.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { TraceError } from '../problems.ts';
import { bad, type Log, type LogLine, leftOut } from './log.ts';

/** Fields that can be a group, with their positions. */
const GROUPS: ReadonlyMap<string, number> = new Map([
  ['user', 11],
  ['group', 12],
  ['application', 13],
  ['queue', 14],
  ['partition', 15],
]);

const FIELDS = 18;
/** Attempts of a job that was interrupted. The log has the whole job too. */
const PARTS: ReadonlySet<number | undefined> = new Set([2, 3, 4]);

/** `file`: its name in messages. Throws TraceError. */
export function readSwf(
  lines: Iterable<string>,
  { file, group }: { readonly file: string; readonly group?: string | undefined },
): Log {
  const position = group === undefined ? undefined : GROUPS.get(group);
  if (group !== undefined && position === undefined)
    throw new TraceError(
      `${file}: reading a log in SWF: there is no field "${group}"; for --group choose from ${[...GROUPS.keys()].join(', ')}`,
    );
  const header = new Map<string, string>();
  const read: LogLine[] = [];
  let number = 0;
  for (const line of lines) {
    number++;
    const text = line.trim();
    const [, key, value] = /^;\s*(\w+):\s*(.*)$/.exec(text) ?? [];
    if (key !== undefined && value !== undefined) header.set(key, value);
    if (text !== '' && !text.startsWith(';'))
      read.push(readJob(text, { line: number, startS: startOf(header, file), position }));
  }
  const zone = header.get('TimeZoneString');
  const isKnown = zone !== undefined && timeZoneProblem(zone) === undefined;
  return { lines: read, ...(isKnown ? { timezone: zone } : {}) };
}

function startOf(header: ReadonlyMap<string, string>, file: string): number {
  const text = header.get('UnixStartTime');
  if (text !== undefined && /^\d+$/.test(text)) return Number(text);
  throw new TraceError(
    `${file}: reading a log in SWF: expected "; UnixStartTime: SECONDS" before the first job, got ${text === undefined ? 'nothing' : shownText(text)}; add the time of second 0, in seconds since 1970`,
  );
}

type Place = { readonly line: number; readonly startS: number; readonly position: number | undefined };

function readJob(text: string, { line, startS, position }: Place): LogLine {
  const fields = text.split(/\s+/).map(Number);
  const [, submitS, , seconds, , , , , , , status] = fields;
  if (fields.length !== FIELDS || fields.some(Number.isNaN) || submitS === undefined || seconds === undefined)
    return bad(line, { path: '', message: `expected ${FIELDS} numbers, got ${shownText(text)}` });
  if (submitS < 0)
    return bad(line, { path: 'submit time', message: `expected seconds from 0, got ${submitS}` });
  if (PARTS.has(status)) return leftOut('part');
  if (seconds < 0 || (seconds === 0 && status === CANCELLED)) return leftOut('never-ran');
  const group = position === undefined ? undefined : `${fields[position]}`;
  return { kind: 'job', job: { at: Math.round((startS + submitS) * 1000) as EpochMs, seconds, group } };
}

const CANCELLED = 5;
