/** Formats a status as text: the most important facts first, 80 columns if names are short. */
import { sum } from '../../lambda/decision/model/collections.ts';
import { ageText, section, some, textOf } from '../../lambda/explain/format.ts';
import { promiseLines } from '../../lambda/explain/promise-text.ts';
import { overrideText, reasonSentence } from '../../lambda/explain/reason-text.ts';
import { MOST_WORDS, partsText, type Wording } from '../../lambda/explain/text.ts';
import { type Column, plainTable } from '../shared/plain-table.ts';
import { lookLine } from './read-log.ts';
import { recentWaitLines } from './recent-waits.ts';
import { type PoolStatus, placeText, type Status, type WaitingGroup, type WaitingJobs } from './report.ts';

type Screen = {
  /** Characters of a line. @default as wide as needed */
  readonly width?: number | undefined;
  /** @default whole sentences */
  readonly wording?: Wording;
};

export function statusScreen(status: Status, { width, wording = (text) => text }: Screen = {}): string {
  const { waiting, pools, broken, overrides, lastLook, waits } = status;
  return textOf([
    `${waitingText(waiting)}; ${findingsText(broken.length)}`,
    '',
    ...poolTable(pools, width).split('\n'),
    ...(pools.some(({ floor }) => floor > 0) ? [FLOOR] : []),
    ...section('waiting jobs', waitingLines(waiting, wording)),
    ...section('when they start', startLines(status)),
    ...section(
      'findings',
      atMost(
        MOST.broken,
        broken.map((line) => `! ${wording(line, MOST_WORDS.line)}`),
        'finding',
      ),
    ),
    ...section(
      'overrides',
      overrides.map(({ pool, ...override }) => `  pool "${pool}": ${overrideText(override)}`),
    ),
    ...section('changed secrets', pools.flatMap(oldSecretLine)),
    ...section(
      'spot and on demand',
      pools.flatMap((pool) => partsLine(pool, wording)),
    ),
    ...section('retiring', pools.filter(({ retiring }) => retiring).map(retiringLine)),
    '',
    ...(isSameCause(status) ? [] : recentWaitLines(waits)),
    lookLine(lastLook),
  ]);
}

function startLines(status: Status): readonly string[] {
  const { waiting, isLooking, takenAt } = status;
  const lines = promiseLines(waiting, { takenAt, most: MOST.promises });
  if (lines.length === 0) return lines;
  return [...startNote(status), ...(isLooking ? lines : [])];
}

/** Without looks no task starts, and a look that failed may have changed nothing. Free daemons still take jobs. */
export function startNote({
  isLooking,
  lastLook,
}: Pick<Status, 'isLooking' | 'lastLook'>): readonly string[] {
  if (isLooking) return hasFailed(lastLook) ? [FAILING] : [];
  const since = lastLook.kind === 'seen' ? `for ${ageText(lastLook.ageSeconds)}` : 'in the last hour';
  return [`unknown: the function has not looked ${since}, and without looks no task starts`];
}

const hasFailed = (look: Status['lastLook']): boolean => look.kind === 'seen' && look.failures.length > 0;
const FAILING = "the function's last look failed (see findings): times below hold once its looks succeed";

/** Whether the last look and the waits are unknown for the same cause: then one line says it. */
function isSameCause({ lastLook, waits }: Status): boolean {
  return lastLook.kind === 'unknown' && waits.kind === 'unknown' && lastLook.why === waits.why;
}

export function waitingText({ jobs, unserved, oldestSeconds, isComplete }: WaitingJobs): string {
  const atLeast = isComplete ? '' : 'at least ';
  if (jobs === 0) return isComplete ? 'no jobs wait' : 'waiting jobs unknown';
  const age = ageText(oldestSeconds);
  if (jobs === 1)
    return `${atLeast}1 job has waited for ${age}${unserved === 0 ? '' : ' and is unschedulable'}`;
  const waitingJobs = `${atLeast}${jobs} jobs wait, the oldest for ${age}`;
  return unserved === 0
    ? waitingJobs
    : `${waitingJobs}, ${unserved === jobs ? 'all' : unserved} of them unschedulable`;
}

export function findingsText(count: number): string {
  return count === 0 ? 'no findings' : some(count, 'finding');
}

const COLUMNS = ['pool', 'tasks', 'busy', 'idle', 'starting', 'leaving', 'floor', 'max'];

const FLOOR = 'floor: the tasks to keep now, busy ones included; 0: only what jobs need';

function poolTable(pools: readonly PoolStatus[], width: number | undefined): string {
  const columns = COLUMNS.map((head): Column => ({ head, align: head === 'pool' ? 'left' : 'right' }));
  const rows = pools.map(({ name, tasks, daemons, floor, max }) => {
    const { busy = '?', idle = '?', starting = '?', leaving = '?' } = daemons ?? {};
    return [name, tasks ?? '?', busy, idle, starting, leaving, floor, max];
  });
  return plainTable(columns, rows, width);
}

/** The most lines of each section: the whole status has to fit one screen. */
const MOST = { nobody: 3, groups: 10, promises: 8, broken: 15 } as const;

function waitingLines({ groups, nobody }: WaitingJobs, wording: Wording): readonly string[] {
  return [
    ...atMost(
      MOST.nobody,
      nobody.map((line) => `! ${wording(line, MOST_WORDS.line)}`),
      'tag group',
    ),
    ...atMost(MOST.groups, groups.map(groupLine), 'tag group'),
  ];
}

function atMost(count: number, lines: readonly string[], noun: string): readonly string[] {
  const more = lines.length - count;
  return more > 0 ? [...lines.slice(0, count), `  and ${some(more, noun)} more`] : lines;
}

function groupLine({ organization, tags, jobs, oldestSeconds, places }: WaitingGroup): string {
  // people and prebuilds have rows of their own
  const byText = Map.groupBy(places, placeText);
  const providers = [...byText]
    .map(([text, same]) => `${sum(same, (place) => place.jobs)} ${text}`)
    .join(', ');
  return `  organization "${organization}", tags ${tags}: ${some(jobs, 'job')}, the oldest for ${ageText(oldestSeconds)} -> ${providers}`;
}

function oldSecretLine({ name, oldSecret }: PoolStatus): readonly string[] {
  return oldSecret === null ? [] : [`  pool "${name}": ${reasonSentence(oldSecret)}`];
}

function partsLine({ name, parts = [] }: PoolStatus, wording: Wording): readonly string[] {
  return parts.length === 0 ? [] : [`  pool "${name}": ${partsText(parts, wording).join('; ')}`];
}

function retiringLine({ name, isGone, tasks, building }: PoolStatus): string {
  if (isGone) return `  pool "${name}": no tasks remain. Remove it from the configuration and deploy`;
  if (tasks === null) return `  pool "${name}": no ECS service found`;
  return `  pool "${name}": ${some(tasks, 'task')} remaining, ${building} with a build`;
}
