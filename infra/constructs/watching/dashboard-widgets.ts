/** The kinds of widgets on the dashboard, three to a line. */
import { Duration } from 'aws-cdk-lib';
import {
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryWidget,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import type { MetricName, PoolMetricName } from '../../../lambda/telemetry/metric-names.ts';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { type QueryName, queryLines } from './log-queries.ts';
import { lookMetric, poolMetric, type Statistic } from './look-metrics.ts';

const THIRD = { width: 8, height: 6 };

/** Heads the lines that answer it. */
export function question(text: string): IWidget {
  return new TextWidget({ width: 24, height: 1, markdown: `## ${text}` });
}

export type Graph = {
  readonly title: string;
  readonly left: IMetric[];
  readonly right?: IMetric[];
  readonly stacked?: boolean;
  /** Where the alarm goes off. */
  readonly alarmAt?: number;
  /** The top of the scale. @default as high as the values */
  readonly most?: number;
};

export function graph({ alarmAt, most, ...shown }: Graph): IWidget {
  return new GraphWidget({
    ...THIRD,
    ...shown,
    leftYAxis: { min: 0, max: most },
    leftAnnotations: alarmAt === undefined ? [] : [{ value: alarmAt, label: 'alarm' }],
  });
}

/** Metrics of the looks, by name. */
export function looks(
  { service }: AutoscalerFunction,
  statistics: Readonly<Partial<Record<MetricName, Statistic>>>,
): IMetric[] {
  const entries = Object.entries(statistics) as [MetricName, Statistic][];
  return entries.map(([name, statistic]) => lookMetric({ service, name, statistic }));
}

/** A metric of every pool. */
export function byPool(
  { service }: AutoscalerFunction,
  pools: readonly DeployedPool[],
  name: PoolMetricName,
): IMetric[] {
  return pools.map((pool) => poolMetric({ service, name, pool: pool.name }));
}

export type Formula = {
  readonly label: string;
  /** `busy`, `idle` and `starting` are daemons. */
  readonly expression: string;
};

export function daemonFormula({ service }: AutoscalerFunction, formula: Formula): IMetric {
  const daemons = (name: MetricName): IMetric => lookMetric({ service, name, statistic: 'Maximum' });
  const all = {
    busy: daemons('BusyDaemons'),
    idle: daemons('IdleDaemons'),
    starting: daemons('StartingDaemons'),
  };
  const used = Object.entries(all).filter(([name]) => formula.expression.includes(name));
  return new MathExpression({
    ...formula,
    usingMetrics: Object.fromEntries(used),
    period: Duration.minutes(1),
  });
}

export type Table = { readonly title: string; readonly query: QueryName; readonly width?: number };

/** What the look events of the time shown tell. */
export function table(
  { function: lambda, service }: AutoscalerFunction,
  { title, query, width }: Table,
): IWidget {
  return new LogQueryWidget({
    ...THIRD,
    title,
    width: width ?? THIRD.width,
    logGroupNames: [lambda.logGroup.logGroupName],
    queryLines: [...queryLines(query, service)],
  });
}
