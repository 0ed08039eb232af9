/** Parses the times of logs. Everything that is not certain is a problem, never a guess. */
import { shown } from '../../../../lambda/config/problems/shown.ts';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { instantsOf } from '../../../../lambda/decision/model/zones.ts';
import { time } from '../schema.ts';

/** `iso`: a date and time of day. `s`, `ms`: the number of them since 1970. */
export const TIME_UNITS = ['iso', 's', 'ms'] as const;

export type TimeOptions = {
  readonly times: (typeof TIME_UNITS)[number];
  /** The IANA zone of times without a zone. Undefined: such times are refused. */
  readonly timezone?: string | undefined;
};

type ReadTime =
  | { readonly at: EpochMs; readonly message?: never }
  | { readonly at?: never; readonly message: string };

const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)? ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/;
const NUMBER = /^\d+(?:\.\d+)?$/;
/** In seconds this is the year 5138. */
const LATEST_S = 1e11;

/** `value`: a cell of a table or a value of JSON. */
export function readTime(value: unknown, options: TimeOptions): ReadTime {
  const text = typeof value === 'string' ? value.trim() : value;
  return options.times === 'iso' ? readIso(text, options) : readEpoch(text, options.times);
}

function readIso(value: unknown, { timezone }: TimeOptions): ReadTime {
  const [, date, minutes, seconds = ':00', zone] = ISO.exec(String(value)) ?? [];
  const hasZone = zone !== undefined;
  const iso = time.safeParse(`${date}T${minutes}${seconds}${hasZone ? offsetOf(zone) : 'Z'}`);
  const seen = shown(value, []);
  if (!iso.success) {
    const hint = NUMBER.test(String(value)) ? '; if it counts from 1970, add --times s or --times ms' : '';
    return { message: `expected a time, such as 2026-03-02T09:00:00Z, got ${seen}${hint}` };
  }
  if (hasZone) return { at: iso.data };
  const [first] = timezone === undefined ? [] : instantsOf(timezone, iso.data);
  if (first !== undefined) return { at: first };
  return {
    message: `expected a time with a time zone, got ${seen}; say which zone: --timezone UTC, or its IANA name`,
  };
}

/** PostgreSQL writes `+00`, other systems `+0000`. */
function offsetOf(zone: string): string {
  if (zone === 'Z' || zone === 'UTC') return 'Z';
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
}

function readEpoch(value: unknown, unit: 's' | 'ms'): ReadTime {
  const name = unit === 's' ? 'seconds' : 'milliseconds';
  const expected = `expected ${name} since 1970, got ${shown(value, [])}`;
  if (!NUMBER.test(String(value)))
    return { message: `${expected}${ISO.test(String(value)) ? '; leave out --times' : ''}` };
  if (unit === 's' && Number(value) > LATEST_S)
    return { message: `${expected}; are these milliseconds? Then write --times ms` };
  return { at: Math.round(Number(value) * (unit === 's' ? 1000 : 1)) as EpochMs };
}
