/** Computes days and times of day in IANA time zones. */
import { type EpochMs, plusMs } from '../../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { windowOf } from '../../../../lambda/decision/settings/schedules.ts';
import { BacktestError } from '../backtest-error.ts';

export type LocalDay = {
  /** `2026-03-02` */
  readonly date: string;
  /** 0 is Sunday. */
  readonly weekday: number;
  /** When the local clock shows these minutes since midnight. Before 4:00 counted back from noon. */
  readonly at: (minute: number) => EpochMs;
};

const NOON = 720;
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6] as const;

/** The day of this date in an IANA time zone. Throws BacktestError if the time zone skips the day. */
export function localDay(timezone: string, date: string): LocalDay {
  const noon = firstShowing(timezone, date, NOON);
  return {
    date,
    weekday: new Date(`${date}T00:00:00Z`).getUTCDay(),
    at: (minute) => plusMs(noon, Math.round((minute - NOON) * MINUTE_MS)),
  };
}

/** Monday to Friday, also if it is a holiday. */
export const isWorkday = ({ weekday }: LocalDay): boolean => weekday !== 0 && weekday !== 6;

/** The start of this date in an IANA time zone, also if its clock skips midnight. */
export function midnight(timezone: string, date: string): EpochMs {
  return firstShowing(timezone, date, 0);
}

export function plusDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 1440 * MINUTE_MS).toISOString().slice(0, 10);
}

function firstShowing(timezone: string, date: string, minute: number): EpochMs {
  const window = windowOf(
    { days: EVERY_DAY, timezone, fromMinute: minute, toMinute: minute + 1, min: 0, warm: 0 },
    date,
  );
  if (window === undefined)
    throw new BacktestError(`finding ${date} in ${timezone}: the time zone skips this day; take another day`);
  return window.from;
}
