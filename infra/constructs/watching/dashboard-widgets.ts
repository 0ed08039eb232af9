/** The kinds of widgets on the dashboard. Three fit in a row. */
import { Duration } from 'aws-cdk-lib';
import {
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryWidget,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { type QueryName, queryLines } from './log-queries.ts';
import { lookMetric } from './look-metrics.ts';

const THIRD = { width: 8, height: 6 };

/** A heading above the widgets that answer the question. */
export function question(text: string): IWidget[] {
  return [new TextWidget({ width: 24, height: 1, markdown: `## ${text}` })];
}

export type Graph = {
  readonly right?: IMetric[];
  readonly stacked?: boolean;
  /** The alarm's threshold, drawn as a horizontal line. */
  readonly alarmAt?: number;
  /** The top of the scale. @default the highest value */
  readonly most?: number;
};

export function graph(title: string, left: IMetric[], { alarmAt, most, ...shown }: Graph = {}): IWidget {
  return new GraphWidget({
    ...THIRD,
    title,
    left,
    ...shown,
    leftYAxis: { min: 0, max: most },
    leftAnnotations: alarmAt === undefined ? [] : [{ value: alarmAt, label: 'alarm' }],
  });
}

/** @param expression a formula with the daemons `busy`, `idle` and `starting` */
export function daemonFormula({ service }: AutoscalerFunction, label: string, expression: string): IMetric {
  const all = {
    busy: lookMetric(service, 'BusyDaemons'),
    idle: lookMetric(service, 'IdleDaemons'),
    starting: lookMetric(service, 'StartingDaemons'),
  };
  const used = Object.entries(all).filter(([name]) => expression.includes(name));
  return new MathExpression({
    label,
    expression,
    usingMetrics: Object.fromEntries(used),
    period: Duration.minutes(1),
  });
}

/** A table of a saved query's result over the time range of the dashboard. */
export function table(
  { function: lambda, service }: AutoscalerFunction,
  title: string,
  query: QueryName,
  width = THIRD.width,
): IWidget {
  return new LogQueryWidget({
    ...THIRD,
    title,
    width,
    logGroupNames: [lambda.logGroup.logGroupName],
    queryLines: [...queryLines(query, service)],
  });
}
