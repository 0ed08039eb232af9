/**
 * CloudWatch for the alarms of a stack: it takes the metrics of looks, and says by minute which alarm is on. Periods,
 * thresholds and the treatment of missing data are those of the synthesized template.
 */
import * as z from 'zod';
import { operate } from '../../support/operated.ts';

const metricSchema = z.object({ MetricName: z.string() });
const alarmSchema = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  MetricName: z.string().optional(),
  Statistic: z.string().optional(),
  Period: z.number().optional(),
  Metrics: z
    .array(
      z.object({
        Expression: z.string().optional(),
        MetricStat: z.object({ Metric: metricSchema, Stat: z.string(), Period: z.number() }).optional(),
      }),
    )
    .optional(),
  ComparisonOperator: z.string(),
  Threshold: z.number(),
  EvaluationPeriods: z.number(),
  DatapointsToAlarm: z.number(),
  TreatMissingData: z.enum(['breaching', 'notBreaching', 'ignore', 'missing']),
});
type AlarmProperties = z.infer<typeof alarmSchema>;

type Rule = {
  readonly name: string;
  readonly description: string;
  readonly metric: string;
  readonly statistic: string;
  readonly minutes: number;
  /** A minute without a value counts as this value. */
  readonly fill: number | undefined;
  readonly isBad: (value: number) => boolean;
  readonly wrong: number;
  readonly of: number;
  readonly missing: AlarmProperties['TreatMissingData'];
};

const OPERATORS: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
  GreaterThanThreshold: (value, threshold) => value > threshold,
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
};

const STATISTICS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  Minimum: (values) => Math.min(...values),
  Maximum: (values) => Math.max(...values),
  Sum: (values) => values.reduce((sum, value) => sum + value, 0),
  SampleCount: (values) => values.length,
};

/** The alarms of a stack with one pool, but those of quotas: their expressions use metrics of AWS. */
const RULES: readonly Rule[] = Object.values(operate().findResources('AWS::CloudWatch::Alarm'))
  .map(({ Properties }) => alarmSchema.parse(Properties))
  .filter(({ AlarmName }) => !AlarmName.includes('vcpu-quota'))
  .map(ruleOf);

function ruleOf(alarm: AlarmProperties): Rule {
  const filled = alarm.Metrics?.find(({ MetricStat }) => MetricStat !== undefined)?.MetricStat;
  const isBad = OPERATORS[alarm.ComparisonOperator];
  if (isBad === undefined) throw new Error(`the comparison ${alarm.ComparisonOperator} is not known here`);
  return {
    name: alarm.AlarmName.replace('Test-', ''),
    description: alarm.AlarmDescription,
    metric: alarm.MetricName ?? filled?.Metric.MetricName ?? '',
    statistic: alarm.Statistic ?? filled?.Stat ?? '',
    minutes: (alarm.Period ?? filled?.Period ?? 60) / 60,
    fill: alarm.Metrics?.some(({ Expression }) => Expression?.startsWith('FILL(')) ? 0 : undefined,
    isBad: (value) => isBad(value, alarm.Threshold),
    wrong: alarm.DatapointsToAlarm,
    of: alarm.EvaluationPeriods,
    missing: alarm.TreatMissingData,
  };
}

/** CloudWatch reads more points than an alarm evaluates, if some are missing ("Configuring how alarms treat missing data"). */
const FURTHER_POINTS = 2;

/** An alarm that went off, in minutes. `until` is undefined while it is on. */
export type RungAlarm = { readonly name: string; readonly from: number; readonly until: number | undefined };

/** Each alarm sends a mail when it goes off, and one when it is over. */
export const mailsOf = (rung: readonly RungAlarm[]): number =>
  rung.length + rung.filter(({ until }) => until !== undefined).length;

/** The descriptions of the alarms, by name: the text of the mail. */
export const DESCRIPTIONS: ReadonlyMap<string, string> = new Map(
  RULES.map(({ name, description }) => [name, description]),
);

export class CloudWatch {
  readonly #values = new Map<string, number[][]>();
  readonly #on = new Map<string, { from: number; until: number | undefined }[]>();
  #minute = 0;

  /** Adds the values that one look, or Lambda, publishes in this minute. */
  put(values: Readonly<Record<string, number | undefined>>): void {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) continue;
      const minutes = this.#values.get(name) ?? [];
      this.#values.set(name, minutes);
      minutes[this.#minute] = [...(minutes[this.#minute] ?? []), value];
    }
  }

  /** Evaluates all alarms at the end of this minute. */
  endMinute(): void {
    this.#minute += 1;
    for (const rule of RULES) {
      if (this.#minute % rule.minutes !== 0) continue;
      const spans = this.#on.get(rule.name) ?? [];
      this.#on.set(rule.name, spans);
      const last = spans.at(-1);
      const wasOn = last !== undefined && last.until === undefined;
      const points = this.#points(rule).map((value) => (value === undefined ? undefined : rule.isBad(value)));
      const isOn = isAlarm(points, rule, wasOn);
      if (isOn && !wasOn) spans.push({ from: this.#minute, until: undefined });
      if (!isOn && wasOn) last.until = this.#minute;
    }
  }

  /** By alarm: the minutes from and until which it was on. Undefined: it still is. */
  alarms(): Readonly<Record<string, readonly (readonly [from: number, until: number | undefined])[]>> {
    return Object.fromEntries(
      [...this.#on]
        .filter(([, spans]) => spans.length > 0)
        .map(([name, spans]) => [name, spans.map(({ from, until }) => [from, until] as const)]),
    );
  }

  /** The same in order of time, in minutes after `since`. */
  rung(since: number): readonly RungAlarm[] {
    return [...this.#on]
      .flatMap(([name, spans]) =>
        spans.map(({ from, until }) => ({
          name,
          from: from - since,
          until: until === undefined ? undefined : until - since,
        })),
      )
      .sort((a, b) => a.from - b.from || a.name.localeCompare(b.name));
  }

  /** The newest point last; undefined: missing. */
  #points({ metric, statistic, minutes, fill, of }: Rule): readonly (number | undefined)[] {
    const values = this.#values.get(metric) ?? [];
    const stat = STATISTICS[statistic];
    if (stat === undefined) throw new Error(`the statistic ${statistic} is not known here`);
    return Array.from({ length: of + FURTHER_POINTS }, (_, index) => {
      const end = this.#minute - (of + FURTHER_POINTS - 1 - index) * minutes;
      const within = values.slice(Math.max(0, end - minutes), Math.max(0, end)).flatMap((each) => each ?? []);
      return within.length === 0 ? fill : stat(within);
    });
  }
}

/** Whether an alarm is on after these points, the newest last; undefined: missing. */
export function isAlarm(
  points: readonly (boolean | undefined)[],
  { wrong, of, missing }: Pick<Rule, 'wrong' | 'of' | 'missing'>,
  wasOn: boolean,
): boolean {
  const newest = points.filter((isBad) => isBad !== undefined).slice(-of);
  const bad = newest.filter((isBad) => isBad).length;
  const lacking = of - newest.length;
  if (lacking === 0 || missing === 'notBreaching') return bad >= wrong;
  if (missing === 'breaching') return bad + lacking >= wrong;
  if (bad >= wrong) return true;
  // a good point ends the alarm; without one CloudWatch keeps the state
  return bad === newest.length ? wasOn : false;
}
