/**
 * The one screen of `autoscaler status`: what matters most on top, plain text of 80 columns where
 * names are short.
 */

import type { Served } from '../../lambda/decision/model/plan.ts';
import { ageText, some } from '../../lambda/explain/format.ts';
import { overrideText } from '../../lambda/explain/reason-text.ts';
import { type Column, plainTable } from '../shared/plain-table.ts';
import { lookLine } from './last-look.ts';
import type { PoolStatus, Status, Waiting, WaitingGroup } from './report.ts';

/** Writes a status for people. */
export function statusScreen(status: Status): string {
  const { waiting, pools, broken, overrides, lastLook } = status;
  return [
    `${waitingText(waiting)}; ${brokenText(broken.length)}`,
    '',
    poolTable(pools),
    ...section('who waits', waitingLines(waiting)),
    ...section(
      'what is broken',
      atMost(
        MOST.broken,
        broken.map((line) => `! ${line}`),
        'thing',
      ),
    ),
    ...section(
      'overrides',
      overrides.map(({ pool, ...override }) => `  pool "${pool}": ${overrideText(override)}`),
    ),
    ...section('retiring', pools.filter(({ retiring }) => retiring).map(retiringLine)),
    '',
    lookLine(lastLook),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function waitingText({ jobs, unserved, oldestSeconds, isComplete }: Waiting): string {
  const atLeast = isComplete ? '' : 'at least ';
  if (jobs === 0) return isComplete ? 'nobody waits' : 'whether anybody waits is not known';
  const waits = `${atLeast}${some(jobs, 'job')} ${jobs === 1 ? 'waits' : 'wait'}, the oldest for ${ageText(oldestSeconds)}`;
  return unserved === 0 ? waits : `${waits}, and nobody can run ${unserved} of them`;
}

function brokenText(count: number): string {
  if (count === 0) return 'nothing is broken';
  return count === 1 ? '1 thing is broken' : `${count} things are broken`;
}

const COLUMNS = ['pool', 'tasks', 'busy', 'idle', 'starting', 'leaving', 'floor', 'max'];

function poolTable(pools: readonly PoolStatus[]): string {
  const columns = COLUMNS.map((head): Column => ({ head, align: head === 'pool' ? 'left' : 'right' }));
  const rows = pools.map(({ name, tasks, daemons, floor, max }) => {
    const { busy = '?', idle = '?', starting = '?', leaving = '?' } = daemons ?? {};
    return [name, tasks ?? '?', busy, idle, starting, leaving, floor, max];
  });
  return plainTable(columns, rows);
}

/** More would push what follows off the screen. */
const MOST = { nobody: 3, groups: 10, broken: 15 } as const;

function waitingLines({ groups, nobody }: Waiting): readonly string[] {
  return [
    ...atMost(
      MOST.nobody,
      nobody.map((line) => `! ${line}`),
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
  const who = places.map((place) => `${place.jobs} ${servedText(place)}`).join(', ');
  return `  organization "${organization}", tags ${tags}: ${some(jobs, 'job')}, the oldest for ${ageText(oldestSeconds)} -> ${who}`;
}

const SERVED: Readonly<Record<Served, string>> = {
  'by-free': 'by a free daemon',
  'by-starting': 'by a starting daemon',
  'by-launch': 'by a new task',
  'when-there-is-room': 'when there is room',
  'by-busy': 'by a busy daemon',
};

function servedText({ pool, served }: WaitingGroup['places'][number]): string {
  return `${SERVED[served]} ${pool === null ? 'of others' : `in "${pool}"`}`;
}

function retiringLine({ name, isGone, tasks, building }: PoolStatus): string {
  if (isGone) return `  pool "${name}": none left; remove it from the configuration and deploy`;
  if (tasks === null) return `  pool "${name}": not in sight`;
  return `  pool "${name}": ${some(tasks, 'task')} left, ${building} of them with a build`;
}
