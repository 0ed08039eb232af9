/** Runs or jobs of GitHub Actions, as gh and the REST API write them: one JSON document, or one a line. */
import { shown } from '../../../lambda/config/problems/shown.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import { TraceError } from '../problems.ts';
import { bad, type Log, type LogLine, leftOut } from './log.ts';
import { readTime } from './times.ts';

type GithubOptions = { readonly file: string; readonly group?: string | undefined };
/** `path`: its place in a document. `line`: its line, if each line is a document. */
type Entry = { readonly value: unknown; readonly path: string; readonly line?: number };
type Fields = Readonly<Record<string, unknown>>;

const ADVICE =
  'write the file with gh run list --json databaseId,createdAt,startedAt,updatedAt,status,conclusion, or with gh api --paginate --slurp';

/** Throws TraceError if the file is not JSON. */
export function readGithubActions(lines: Iterable<string>, options: GithubOptions): Log {
  const entries = documentsOf([...lines], options.file).flatMap(entriesOf);
  const ids = new Set<unknown>();
  return { lines: entries.map((entry) => readEntry(entry, ids, options)) };
}

function documentsOf(lines: readonly string[], file: string): readonly Entry[] {
  const numbered = lines.map((text, index) => ({ text: text.trim(), line: index + 1 }));
  const filled = numbered.filter(({ text }) => text !== '');
  // one document a line: the first line is one, and there are more
  if (filled.length > 1 && parseQuietly(filled[0]?.text ?? '') !== undefined)
    return filled.map(({ text, line }) => ({ value: parseQuietly(text), path: '', line }));
  const value = parseQuietly(lines.join('\n').trim());
  if (value !== undefined) return [{ value, path: '' }];
  throw new TraceError(`${file}: reading the runs: expected JSON; ${ADVICE}`);
}

/** A page of the REST API has a list, and `--slurp` makes a list of pages. */
function entriesOf({ value, path, ...rest }: Entry): readonly Entry[] {
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) =>
      entriesOf({ value: item, path: `${path}[${index}]`, ...rest }),
    );
  if (!isFields(value)) return [{ value, path, ...rest }];
  const list = ['workflow_runs', 'jobs'].find((name) => Array.isArray(value[name]));
  if (list === undefined) return [{ value, path, ...rest }];
  return entriesOf({ value: value[list], path: path === '' ? list : `${path}.${list}`, ...rest });
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** A job has its own end. A run has only the time of its last change. */
const JOB = { queued: ['created_at', 'started_at', 'startedAt'], started: ['started_at', 'startedAt'] };
/** The queue of a run that was started again begins with its last attempt. */
const RUN = {
  queued: ['run_started_at', 'startedAt', 'created_at', 'createdAt'],
  started: ['run_started_at', 'startedAt', 'created_at', 'createdAt'],
};
const JOB_END = ['completed_at', 'completedAt'];
const RUN_END = ['updated_at', 'updatedAt'];

function readEntry({ value, path, line }: Entry, ids: Set<unknown>, { group }: GithubOptions): LogLine {
  if (!isFields(value))
    return bad(line, { path, message: `expected a run or a job, got ${shown(value, [])}; ${ADVICE}` });
  const id = value.id ?? value.databaseId;
  if (id !== undefined && ids.has(id)) return leftOut('listed-twice');
  ids.add(id);
  if (value.conclusion === 'skipped' || value.conclusion === 'action_required') return leftOut('never-ran');
  if ((value.status ?? 'completed') !== 'completed') return leftOut('unfinished');
  const isJob = JOB_END.some((name) => name in value);
  const { queued, started } = isJob ? JOB : RUN;
  const [at, start, end] = [queued, started, isJob ? JOB_END : RUN_END].map((names) =>
    timeOf(value, names, path),
  );
  for (const each of [at, start, end])
    if (each?.message !== undefined) return bad(line, { path: each.path, message: each.message });
  if (at?.at === undefined || start?.at === undefined || end?.at === undefined) return leftOut('unfinished');
  if (end.at <= start.at) return leftOut('never-ran');
  const place = groupOf(value, group);
  if (group !== undefined && place === undefined)
    return bad(line, {
      path: inside(path, group),
      message: 'missing; expected the field that --group names',
    });
  return { kind: 'job', job: { at: at.at, seconds: (end.at - start.at) / 1000, group: place } };
}

type FieldTime = { readonly path: string; readonly at?: EpochMs; readonly message?: string };

/** The first field that is present. An absent end is null, or the year 1 in the output of gh. */
function timeOf(fields: Fields, names: readonly string[], path: string): FieldTime {
  const name = names.find((each) => fields[each] !== undefined);
  if (name === undefined)
    return { path: inside(path, names[0] ?? ''), message: `missing; expected a time. ${ADVICE}` };
  const value = fields[name];
  if (value === null || (typeof value === 'string' && value.startsWith('0001-'))) return { path };
  return { path: inside(path, name), ...readTime(value, { times: 'iso' }) };
}

const inside = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function groupOf(fields: Fields, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : fields[name];
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.join(',') : String(value);
}
