/** Formats values of settings as `autoscaler.yaml` writes them. Never shows what may be a secret. */
import { looksLikeSecret, shownDuration } from '../../../lambda/config/problems/shown.ts';
import { DAY_NAMES } from '../../../lambda/config/schema/schedules.ts';
import type { Schedule } from '../../../lambda/decision/model/config.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { tagText } from '../../../lambda/explain/format.ts';

/** `value` is never undefined. */
export type Show = (value: never) => string;

/** The text of a value that is not set. */
export const UNSET = 'none';

export const plain = (value: string | number | boolean): string => String(value);
export const durationOrAuto = (ms: number | 'auto'): string => (ms === 'auto' ? ms : shownDuration(ms));
export const percent = (value: number): string => `${value}%`;
export const dollars = (value: number): string =>
  `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6, useGrouping: false })}`;
export const tags = (value: Tags): string => tagText(value);
export const list = (items: readonly (string | number)[]): string =>
  items.length === 0 ? UNSET : items.join(', ');

/** `mon,tue 08:30-18:30 Europe/Berlin: min 0, warm 5`, one for each schedule. */
export const schedules = (all: readonly Schedule[]): string => list(all.map(scheduleText));

function scheduleText({ days, fromMinute, toMinute, timezone, min, warm, except }: Schedule): string {
  const on = days.length === DAY_NAMES.length ? 'every day' : days.map((day) => DAY_NAMES[day]).join(',');
  const not = except.length === 0 ? '' : `, not on ${except.join(' and ')}`;
  return `${on} ${timeOf(fromMinute)}-${timeOf(toMinute)} ${timezone}: min ${min}, warm ${warm}${not}`;
}

const timeOf = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');

/** The value is private: a text that is the same for all values. */
export const hidden = (_value: unknown): string => '(not shown)';

/** Hides a text that looks like a secret: a tag may hold one by mistake. */
export const safe = (text: string): string => (looksLikeSecret(text) ? '(not shown)' : text);
