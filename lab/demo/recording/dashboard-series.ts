/** Evaluates the metrics of widgets and alarms as CloudWatch does: one value a period, and formulas. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { DashboardData, Datum } from './dashboard-data.ts';
import type { MetricRow } from './dashboard-widgets.ts';

/** Undefined: no value in this period. */
export type Series = {
  readonly label: string;
  readonly isRight: boolean;
  readonly periodMs: number;
  readonly values: readonly (number | undefined)[];
};

export type Range = { readonly from: EpochMs; readonly to: EpochMs };

const DEFAULT_PERIOD_S = 300;
/** vCPUs of Fargate, for `SERVICE_QUOTA`. */
const QUOTA = 40;

export function seriesOf(
  rows: readonly MetricRow[],
  { metrics }: DashboardData,
  range: Range,
): readonly Series[] {
  const all = rows.map((row) => {
    const [options = {}] = row.flatMap((part) => (typeof part === 'object' ? [part] : []));
    const [, name = ''] = row.filter((part) => typeof part === 'string');
    return { name, options };
  });
  const measured = ({ name, options }: (typeof all)[number], periodMs: number): Series['values'] =>
    periodsOf(range, periodMs).map((start) =>
      statistic(options.stat, valuesWithin(metrics.get(name) ?? [], start, periodMs)),
    );
  return all
    .filter(({ options }) => options.visible !== false)
    .map((row) => {
      const { label = row.name, expression, period, yAxis } = row.options;
      const own = all.filter(({ options }) => options.id !== undefined && expression?.includes(options.id));
      const periodMs = (period ?? own[0]?.options.period ?? DEFAULT_PERIOD_S) * 1000;
      const inputs = own.map((input) => ({ id: input.options.id ?? '', values: measured(input, periodMs) }));
      const values =
        expression === undefined
          ? measured(row, periodMs)
          : periodsOf(range, periodMs).map((_, at) => evaluate(expression, inputs, at));
      return { label, isRight: yAxis === 'right', periodMs, values };
    });
}

function periodsOf({ from, to }: Range, periodMs: number): readonly number[] {
  return Array.from({ length: (to - from) / periodMs }, (_, index) => from + index * periodMs);
}

function valuesWithin(data: readonly Datum[], from: number, ms: number): readonly number[] {
  return data.flatMap(({ at, value }) => (at >= from && at < from + ms ? [value] : []));
}

function statistic(name: string | undefined, values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  if (name === 'SampleCount') return values.length;
  if (name === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  return name === 'Minimum' ? Math.min(...values) : Math.max(...values);
}

type Input = { readonly id: string; readonly values: Series['values'] };

/** The formulas are those of our own template: JavaScript, but for these functions. */
function evaluate(expression: string, inputs: readonly Input[], at: number): number | undefined {
  const names = ['IF', 'FILL', 'SERVICE_QUOTA', ...inputs.map(({ id }) => id)];
  const functions = [
    (is: boolean, yes: number, no: number) => (is ? yes : no),
    (value: number | undefined, missing: number) => value ?? missing,
    () => QUOTA,
  ];
  const formula = new Function(...names, `return ${expression}`);
  const value: unknown = formula(...functions, ...inputs.map(({ values }) => values[at]));
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The properties of an alarm in the template, as far as its state depends on them. */
export type AlarmProperties = {
  readonly AlarmName: string;
  readonly Metrics: readonly {
    readonly Id: string;
    readonly Expression?: string;
    readonly ReturnData?: boolean;
    readonly MetricStat?: {
      readonly Metric: { readonly MetricName: string };
      readonly Period: number;
      readonly Stat: string;
    };
  }[];
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm: number;
};

/** Whether the alarm is on at the end of the range. A period without a value does not count. */
export function isOn(alarm: AlarmProperties, data: DashboardData, range: Range): boolean {
  const { Metrics, ComparisonOperator, Threshold, EvaluationPeriods, DatapointsToAlarm } = alarm;
  const rows = Metrics.map(
    ({ Id: id, Expression: expression, ReturnData: visible = true, MetricStat }): MetricRow => {
      const { Metric, Period: period, Stat: stat } = MetricStat ?? {};
      return [
        '',
        Metric?.MetricName ?? '',
        JSON.parse(JSON.stringify({ id, expression, period, stat, visible })),
      ];
    },
  );
  const [{ values } = { values: [] }] = seriesOf(rows, data, range);
  const isWrong = (value: number): boolean =>
    ComparisonOperator.startsWith('LessThan')
      ? value < Threshold || (ComparisonOperator.includes('OrEqual') && value === Threshold)
      : value > Threshold || (ComparisonOperator.includes('OrEqual') && value === Threshold);
  return (
    values.slice(-EvaluationPeriods).filter((value) => value !== undefined && isWrong(value)).length >=
    DatapointsToAlarm
  );
}
