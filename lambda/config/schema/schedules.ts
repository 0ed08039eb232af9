/** The schema of `schedules`: days and times as text, which become the numbers that the decision uses. */
import * as z from 'zod';
import type { Weekday } from '../../decision/model/config.ts';
import type { Kind } from './kinds.ts';
import { timeZoneProblem } from './names.ts';

/** By their numbers. */
const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const DAY = `(?:${DAY_NAMES.join('|')})`;
const DAYS = new RegExp(`^${DAY}(?:-${DAY})?(?:, ?${DAY}(?:-${DAY})?)*$`);

const days = z
  .string()
  .regex(
    DAYS,
    'is not a list of days; write mon, tue, wed, thu, fri, sat or sun, or ranges, separated by commas: mon-fri or mon,wed-thu',
  )
  .prefault('mon-sun')
  .meta({
    title: 'days of the week' satisfies Kind,
    description:
      'Days on which the schedule begins: names and ranges, separated by commas, such as `mon-fri` or `sat,sun`.',
    examples: ['mon-fri'],
  })
  .transform(parseDays);

function parseDays(text: string): readonly Weekday[] {
  const parts = text.split(/, ?/).flatMap((part) => {
    const [first = '', last = first] = part.split('-');
    return daysFrom(DAY_NAMES.indexOf(first), DAY_NAMES.indexOf(last));
  });
  return [...new Set(parts)].sort();
}

/** `fri-mon` includes the weekend. */
function daysFrom(first: number, last: number): Weekday[] {
  const count = ((last - first + 7) % 7) + 1;
  return Array.from({ length: count }, (_, day) => ((first + day) % 7) as Weekday);
}

function timeOfDay({ pattern, last }: { readonly pattern: RegExp; readonly last: string }) {
  return z
    .string()
    .regex(pattern, `is not a time of day; write HH:MM, 00:00 to ${last}`)
    .meta({ title: 'time of day' satisfies Kind, examples: ['08:30'] })
    .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));
}

const from = timeOfDay({ pattern: /^(?:[01]\d|2[0-3]):[0-5]\d$/, last: '23:59' }).meta({
  description: 'Local time at which the schedule begins.',
});
const to = timeOfDay({ pattern: /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, last: '24:00' }).meta({
  description: 'Local time at which the schedule ends. If it is not after `from`, it is on the next day.',
});

const timezone = z
  .string()
  .superRefine((text, context) => {
    const message = timeZoneProblem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta({ description: 'IANA name of the time zone of `from` and `to`.', examples: ['Europe/Berlin'] });

const EXAMPLE = { days: 'mon-fri', from: '08:30', to: '18:30', timezone: 'Europe/Berlin', warm: 5 };

export const schedules = z
  .array(
    z
      .strictObject({
        days,
        from,
        to,
        timezone,
        warm: z
          .int()
          .min(0)
          .default(0)
          .meta({ description: 'The fewest free daemons while the schedule is active.' }),
        min: z
          .int()
          .min(0)
          .default(0)
          .meta({ description: 'The fewest tasks while the schedule is active.' }),
      })
      .meta({ examples: [EXAMPLE] })
      .transform(({ from, to, ...schedule }) => ({ ...schedule, fromMinute: from, toMinute: to })),
  )
  .prefault([])
  .meta({
    description:
      'More tasks or free daemons at certain times, for demand that the autoscaler cannot forecast. If several schedules are active, the highest value applies.',
    examples: [[EXAMPLE]],
  });
