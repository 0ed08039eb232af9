/** Which alarms have their limit crossed by one look: a mark in the log for people who look back. */
import type { LookEvent } from '../look/look-event.ts';
import { ALARM_OF, BAD_ABOVE, type MetricName, type RareMetricName, TOKEN_DAYS } from './metric-names.ts';

type Values = Readonly<Partial<Record<MetricName | RareMetricName, number | undefined>>>;

/** The names of the alarms as words of one text. Absent: none. An alarm rings once several looks have crossed it. */
export function alarmsOf(
  { failures }: Pick<LookEvent, 'failures'>,
  values: Values,
): { readonly alarms?: string } {
  const crossed = (Object.keys(ALARM_OF) as (keyof typeof ALARM_OF)[]).filter((name) =>
    isCrossed(name, values[name]),
  );
  const names = [...(failures.length > 0 ? ['failing-ticks'] : []), ...crossed.map((name) => ALARM_OF[name])];
  return names.length === 0 ? {} : { alarms: names.toSorted().join(' ') };
}

function isCrossed(name: keyof typeof ALARM_OF, value: number | undefined): boolean {
  if (value === undefined) return false;
  if (name === 'TokenDaysLeft') return value <= TOKEN_DAYS;
  return value > (Object.hasOwn(BAD_ABOVE, name) ? BAD_ABOVE[name as keyof typeof BAD_ABOVE] : 0);
}
