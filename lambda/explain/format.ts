/** Formats the numbers, tags and times of a plan for people. Times are UTC, to the second. */
import type {
  ForecastReadingName,
  ReadingName,
  TransitionKind,
  Transitions,
} from '../decision/model/plan.ts';
import type { ReadingStatus } from '../decision/model/snapshot.ts';
import type { Tags } from '../decision/model/tags.ts';

/** What a terminal or GitHub Actions obeys: control characters, ends of lines, `::` at the start, `##[`. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?<=^\s*):(?=:)|#(?=#\[)/gu;

/** One line, whatever names, tags and errors are in it: what is obeyed is shown as JSON writes it. */
export function plainLine(text: string): string {
  return text.replaceAll(OBEYED, (each) =>
    each.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Lines as one text, each in one line. */
export function textOf(lines: readonly string[]): string {
  return lines.map(plainLine).join('\n');
}

/** Tags as `a=1, b=2`. */
export function tagText(tags: Tags): string {
  const entries = Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0
    ? '(untagged)'
    : plainLine(entries.map(([name, value]) => `${name}=${value}`).join(', '));
}

/** An age for people: `90 s`, `12 min`, `3 h`. */
export function ageText(exactSeconds: number): string {
  const seconds = Math.max(0, Math.round(exactSeconds));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** A length of time, exact to the second: `165 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

const DATE = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'long' });

/** An RFC 3339 time for people: `20 November 2026 09:00:00 UTC`. Any other text stays as it is. */
export function timeText(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time;
  return `${DATE.format(at)} ${at.toISOString().slice(11, 19)} UTC`;
}

/** The day of an RFC 3339 time for people: `20 November 2026`. Any other text stays as it is. */
export function dateText(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : DATE.format(at);
}

/** A number with its noun: `1 job`, `2 jobs`. */
export function some(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A title after an empty line, and its lines, each with a mark. Nothing if there are no lines. */
export function section(title: string, lines: readonly string[], mark = '  '): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `${mark}${line}`)];
}

/** The first three items, and how many more there are. */
export function few(items: readonly string[]): string {
  const more = items.length - 3;
  return items.slice(0, 3).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** `5 autostarts from 20 November 2026 09:00:00 UTC on`. */
export function transitionsText(all: readonly Transitions[]): string {
  return all
    .map((row) => {
      const time = timeText(row.at);
      return `${transitionsCount(row)} ${row.transitions === 1 ? `at ${time}` : `from ${time} on`}`;
    })
    .join(' and ');
}

/** `5 autostarts`. */
export function transitionsCount({ kind, transitions }: Pick<Transitions, 'kind' | 'transitions'>): string {
  const [one, many] = NOUNS[kind];
  return `${transitions} ${transitions === 1 ? one : many}`;
}

const NOUNS: Readonly<Record<TransitionKind, readonly [one: string, many: string]>> = {
  autostart: ['autostart', 'autostarts'],
  autostop: ['autostop', 'autostops'],
  dormancy: ['workspace to become dormant', 'workspaces to become dormant'],
  deletion: ['dormant workspace to be deleted', 'dormant workspaces to be deleted'],
};

/** The pronoun for a number of transitions. */
export function itOrThem({ transitions }: Pick<Transitions, 'transitions'>): string {
  return transitions === 1 ? 'it' : 'them';
}

const LISTS: Readonly<Record<ReadingName | ForecastReadingName | 'secrets', string>> = {
  jobs: 'provisioner jobs',
  daemons: 'provisioner daemons',
  'previous-jobs': 'previous jobs',
  services: 'ECS services',
  tasks: 'ECS tasks',
  protections: 'ECS task protections',
  secrets: 'secrets',
  workspaces: 'workspaces',
  templates: 'templates',
};

const STATUSES = ['truncated', 'forbidden', 'failed', 'stale'] as const satisfies readonly ReadingStatus[];

/** The list and the status that a code such as `services-failed` is about. */
const UNREAD = new Map<
  string,
  { readonly name: string; readonly list: string; readonly status: ReadingStatus }
>(
  Object.entries(LISTS).flatMap(([name, list]) =>
    STATUSES.map((status) => [`${name}-${status}`, { name, list, status }] as const),
  ),
);

/** The name of the list that a code is about: `previous jobs` for `previous-jobs-failed`. */
export function listOf(code: string): string {
  return UNREAD.get(code)?.name.replace('-', ' ') ?? code;
}

/** What is wrong with a list, as a phrase: `could not list ECS services` for `services-failed`. */
export function readingPhrase(code: string): string {
  const { list, status } = UNREAD.get(code) ?? { list: code, status: 'unknown' };
  if (status === 'failed') return `could not list ${list}`;
  if (status === 'forbidden') return `no permission to list ${list}`;
  return `the list of ${list} is ${status}`;
}
