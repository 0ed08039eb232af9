/** Reads the widgets of the dashboard from a template. */
import * as z from 'zod';

/** A metric of a widget: namespace, name, pairs of dimensions, options. Of a formula: options only. */
export type MetricRow = readonly (string | MetricOptions)[];
type MetricOptions = {
  readonly id?: string;
  readonly label?: string;
  readonly expression?: string;
  readonly stat?: string;
  /** Seconds. */
  readonly period?: number;
  readonly visible?: boolean;
  readonly yAxis?: 'right';
};

const dashboardSchema = z.object({
  Properties: z.object({
    DashboardBody: z.object({
      'Fn::Join': z.tuple([z.string(), z.array(z.union([z.string(), z.record(z.string(), z.unknown())]))]),
    }),
  }),
});

export type Widget = {
  readonly type: 'text' | 'metric' | 'log' | 'alarm';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly title?: string;
    readonly markdown?: string;
    readonly query?: string;
    readonly metrics?: readonly MetricRow[];
    readonly stacked?: boolean;
    readonly annotations?: { readonly horizontal: readonly { readonly value: number }[] };
    readonly yAxis?: { readonly left?: { readonly max?: number } };
    readonly alarms?: readonly string[];
  };
};

export type Resources = Readonly<Record<string, { readonly Type: string; readonly Properties: object }>>;

/** The widgets in the `DashboardBody` of the template. References become logical ids. */
export function widgetsOf(resources: Resources): readonly Widget[] {
  const dashboard = Object.values(resources).find(({ Type }) => Type === 'AWS::CloudWatch::Dashboard');
  const [, parts] = dashboardSchema.parse(dashboard).Properties.DashboardBody['Fn::Join'];
  const text = parts.map((part) => (typeof part === 'string' ? part : Object.values(part).flat()[0]));
  return JSON.parse(text.join('')).widgets;
}
