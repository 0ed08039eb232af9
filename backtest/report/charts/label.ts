/** Draws a placed label in a scatter series, and the lines from points to their labels. */
import type { LabelPlace, Spot } from './label-places.ts';

/** The label of one point. Colour and weight come from the chart. */
export const labelAt = (place: LabelPlace | undefined) => ({
  show: place !== undefined,
  position: 'inside' as const,
  offset: [place?.dx ?? 0, place?.dy ?? 0],
  formatter: place?.text ?? '',
  align: place?.align ?? ('center' as const),
  verticalAlign: 'middle' as const,
  fontSize: 13,
  lineHeight: 16,
  textBorderColor: 'var(--paper)',
  textBorderWidth: 3,
});

/** `corner`: the top left corner of the plot area in the chart. */
export function leadersMark(places: readonly (LabelPlace | undefined)[], corner: Spot) {
  const inChart = ({ x, y }: Spot) => ({ x: x + corner.x, y: y + corner.y });
  return {
    symbol: 'none',
    silent: true,
    label: { show: false },
    lineStyle: { color: 'var(--faint)', type: 'solid' as const, width: 1 },
    data: places.flatMap((place): [Spot, Spot][] =>
      place?.leader === undefined ? [] : [[inChart(place.leader[0]), inChart(place.leader[1])]],
    ),
  };
}
