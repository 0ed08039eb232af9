/** Numbers, tags and times as people read them. */
import type { TransitionKind, Transitions } from '../decision/model/plan.ts';
import type { Tags } from '../decision/model/tags.ts';

/** Tags as `a=1, b=2`. */
export function tagText(tags: Tags): string {
  const entries = Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? '(untagged)' : entries.map(([name, value]) => `${name}=${value}`).join(', ');
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

/** A number with its noun: `1 job`, `2 jobs`. */
export function some(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The first few of many. */
export function few(items: readonly string[]): string {
  const more = items.length - 3;
  return items.slice(0, 3).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** `5 autostarts from 2026-11-20T09:00:00.000Z on`. */
export function transitionsText(all: readonly Transitions[]): string {
  return all
    .map(({ kind, transitions, at }) => {
      const [one, many] = NOUNS[kind];
      return transitions === 1 ? `1 ${one} at ${at}` : `${transitions} ${many} from ${at} on`;
    })
    .join(' and ');
}

const NOUNS: Readonly<Record<TransitionKind, readonly [one: string, many: string]>> = {
  autostart: ['autostart', 'autostarts'],
  autostop: ['autostop', 'autostops'],
  dormancy: ['workspace to become dormant', 'workspaces to become dormant'],
  deletion: ['dormant workspace to be deleted', 'dormant workspaces to be deleted'],
};

/** The word for so many transitions. */
export function itOrThem({ transitions }: Pick<Transitions, 'transitions'>): string {
  return transitions === 1 ? 'it' : 'them';
}

/** `previous-jobs-truncated` in words. */
export function readingPhrase(code: string): string {
  const [, reading = '', status = ''] = /^(.*)-(\w+)$/.exec(code) ?? [];
  return `the list of ${reading.replace('-', ' ')} is ${status}`;
}
