/** What both charts of cost against wait share: plot area, points, and the line between them. */
import { dollars } from '../parts/numbers.ts';
import type { Size } from './style.ts';

type Margin = Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>;

export const areaOf = ({ width, height }: Size, { left, right, top, bottom }: Margin): Size => ({
  width: width - left - right,
  height: height - top - bottom,
});

/** `$5` for a tick at `$5.00`. */
export const roundDollars = (tick: number): string => dollars(tick).replace(/\.00$/, '');

/** A series of points, in front of lines. */
export const POINTS = {
  type: 'scatter' as const,
  clip: false,
  emphasis: { disabled: true },
  z: 4,
};

export const pointStyle = (color: string) => ({
  color,
  opacity: 1,
  borderColor: 'var(--paper)',
  borderWidth: 1.5,
});

export const DOTTED_LINE = {
  type: 'line' as const,
  symbol: 'none',
  silent: true,
  lineStyle: { color: 'var(--faint)', width: 1.5, type: 'dotted' as const },
  tooltip: { show: false },
};
