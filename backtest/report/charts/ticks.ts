/** Ticks of logarithmic axes, which also say where the axis begins and ends: echarts has powers of ten only. */
/** Nobody feels less than a second. */
const WAIT_TICKS_S = [1, 2, 5, 10, 20, 30, 45, 60, 120, 300, 600, 1200, 1800, 3600, 7200];
const COST_TICKS = [-2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((power) =>
  [1, 2, 5].map((step) => Number(`${step}e${power}`)),
);

/** A logarithm knows no zero: what is less than these is drawn at them, and their ticks say so. */
export const LEAST_WAIT_S = 1;
export const LEAST_COST = { dollars: 0.01, hours: 0.1 } as const;

export const costTicks = (costs: readonly number[], least: number): readonly number[] =>
  ticksAround(
    COST_TICKS.filter((tick) => tick >= least),
    costs,
  );

export const waitTicks = (waits: readonly number[]): readonly number[] => ticksAround(WAIT_TICKS_S, waits);

/** From the last below all values to the first above them, and two of them at the least. */
function ticksAround(ticks: readonly number[], values: readonly number[]): readonly number[] {
  const from = Math.max(
    0,
    ticks.findLastIndex((tick) => tick < Math.min(...values)),
  );
  const above = ticks.findIndex((tick) => tick > Math.max(...values));
  const to = above < 0 ? ticks.length - 1 : Math.max(1, above);
  return ticks.slice(Math.min(from, to - 1), to + 1);
}

/** The value, or the end of the axis that is beyond it. */
export const onAxis = (ticks: readonly number[], value: number): number =>
  Math.min(ticks.at(-1) ?? value, Math.max(ticks[0] ?? value, value));

/** Where a value lies between the first tick and the last, 0 to 1. */
export function logShare(ticks: readonly number[], value: number): number {
  const [least, most] = [Math.log(ticks[0] ?? 1), Math.log(ticks.at(-1) ?? 10)];
  return (Math.log(onAxis(ticks, value)) - least) / (most - least);
}
