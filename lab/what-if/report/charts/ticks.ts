/** The ticks of logarithmic axes; the first and last are its ends. echarts itself has only powers of ten. */

/** From one second on: people do not notice less. */
const WAIT_TICKS_S = [1, 2, 5, 10, 20, 30, 45, 60, 120, 300, 600, 1200, 1800, 3600, 7200];
const COST_TICKS = [-2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((power) =>
  [1, 2, 5].map((step) => Number(`${step}e${power}`)),
);

/** Zero has no logarithm. Smaller values are drawn here, and the label of this tick begins with `≤`. */
export const LEAST_WAIT_S = 1;
export const LEAST_COST = { dollars: 0.01, hours: 0.1 } as const;

export const costTicks = (costs: readonly number[], least: number): readonly number[] =>
  ticksAround(
    COST_TICKS.filter((tick) => tick >= least),
    costs,
  );

export const waitTicks = (waits: readonly number[]): readonly number[] => ticksAround(WAIT_TICKS_S, waits);

/** From the last tick below all values to the first tick above them: at least two ticks. */
function ticksAround(ticks: readonly number[], values: readonly number[]): readonly number[] {
  const from = Math.max(
    0,
    ticks.findLastIndex((tick) => tick < Math.min(...values)),
  );
  const above = ticks.findIndex((tick) => tick > Math.max(...values));
  const to = above < 0 ? ticks.length - 1 : Math.max(1, above);
  return ticks.slice(Math.min(from, to - 1), to + 1);
}

export const onAxis = (ticks: readonly number[], value: number): number =>
  Math.min(ticks.at(-1) ?? value, Math.max(ticks[0] ?? value, value));

/** The position of a value between the first tick (0) and the last tick (1). */
export function logShare(ticks: readonly number[], value: number): number {
  const [least, most] = [Math.log(ticks[0] ?? 1), Math.log(ticks.at(-1) ?? 10)];
  return (Math.log(onAxis(ticks, value)) - least) / (most - least);
}
