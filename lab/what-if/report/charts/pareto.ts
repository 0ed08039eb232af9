/** Cost against wait: one point for each policy, and a line of the autoscaler's prices of waiting. */
import type { EChartsOption } from 'echarts';
import type { Backtest, PolicyRun } from '../../replay/result.ts';
import { dollars, priceText, seconds } from '../parts/numbers.ts';
import { lookOf } from '../parts/palette.ts';
import { AXIS, BASE } from './style.ts';

export type WaitAxis = 'p95S' | 'meanS';
type Point = [cost: number, wait: number];

export function paretoOption({ runs, prices }: Backtest, wait: WaitAxis): EChartsOption {
  const dearest = Math.max(...[...runs, ...prices].map(({ figures }) => figures.dollars.tasks));
  const isRight = ({ figures }: Pick<PolicyRun, 'figures'>) => figures.dollars.tasks > dearest / 2;
  const pointOf = ({ figures }: Pick<PolicyRun, 'figures'>): Point => [
    figures.dollars.tasks,
    figures.waitOfPeople[wait],
  ];
  return {
    ...BASE,
    grid: { left: 56, right: 24, top: 24, bottom: 46, outerBoundsMode: 'none' },
    xAxis: { ...axisOf(roundDollars), name: 'dollars', nameLocation: 'middle', nameGap: 28 },
    yAxis: axisOf(seconds),
    series: [
      {
        ...LABELLED,
        type: 'line',
        lineStyle: { color: PRICE_COLOR, width: 1.5 },
        data: prices.map((price) => ({
          ...priceLook(isRight(price)),
          value: pointOf(price),
          name: priceName(price),
        })),
      },
      {
        ...LABELLED,
        type: 'scatter',
        data: runs.map((run, at) => ({
          ...policyLook(at, isRight(run)),
          value: pointOf(run),
          name: run.title,
        })),
      },
    ],
  };
}

export const PRICE_COLOR = lookOf(0).color;

/** The present price is at the point of the autoscaler, which has a name. */
const priceName = ({ price, isConfigured }: Backtest['prices'][number]): string =>
  isConfigured ? '' : priceText(price);

/** `$5` for a tick at `$5.00`. */
const roundDollars = (tick: number): string => dollars(tick).replace(/\.00$/, '');

const axisOf = (formatter: (tick: number) => string) => ({
  ...AXIS,
  type: 'value' as const,
  min: 0,
  splitNumber: 4,
  axisLabel: { ...AXIS.axisLabel, formatter },
});

type Box = { readonly x: number; readonly y: number; readonly height: number };

/**
 * Labels that would cover another one move down, and keep a line to their point. Without a `y`, echarts moves them
 * back when it draws.
 */
const LABELLED = {
  clip: false,
  labelLine: { show: true, lineStyle: { color: 'var(--faint)' } },
  labelLayout: ({ rect, labelRect }: { readonly rect: Box; readonly labelRect: Box }) => ({
    y: labelRect.y + labelRect.height / 2,
    verticalAlign: 'middle' as const,
    align: labelRect.x < rect.x ? ('right' as const) : ('left' as const),
    moveOverlap: 'shiftY' as const,
  }),
};

const labelOf = (color: string, isBold: boolean, isRight: boolean) => ({
  show: true,
  formatter: '{b}',
  position: isRight ? ('left' as const) : ('right' as const),
  fontSize: 13,
  minMargin: 3,
  color,
  textBorderColor: 'var(--paper)',
  textBorderWidth: 3,
  ...(isBold ? { fontWeight: 700 as const } : {}),
});

const priceLook = (isRight: boolean) => ({
  symbol: 'circle',
  symbolSize: 7,
  itemStyle: { color: 'var(--paper)', borderColor: PRICE_COLOR, borderWidth: 1.5 },
  label: labelOf(PRICE_COLOR, false, isRight),
});

function policyLook(at: number, isRight: boolean) {
  const { color, symbol } = lookOf(at);
  return {
    symbol,
    symbolSize: at === 0 ? 16 : 13,
    itemStyle: { color, opacity: 1, borderColor: 'var(--paper)', borderWidth: 1.5 },
    label: labelOf(color, at === 0, isRight),
  };
}
