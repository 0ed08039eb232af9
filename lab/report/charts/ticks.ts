/** Ticks of logarithmic axes, which also say where the axis begins and ends: echarts has powers of ten only. */
export const WAIT_TICKS_S = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60, 120, 300, 600, 1200, 1800, 3600, 7200,
] as const;
const COST_TICKS = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
);

/** Costs of nothing have no place. */
export const costTicks = (costs: readonly number[]): readonly number[] =>
  ticksAround(
    COST_TICKS,
    costs.filter((cost) => cost > 0),
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

/** Where a value lies between the first tick and the last, 0 to 1. */
export function logShare(ticks: readonly number[], value: number): number {
  const [least, most] = [Math.log(ticks[0] ?? 1), Math.log(ticks.at(-1) ?? 10)];
  return Math.min(1, Math.max(0, (Math.log(value) - least) / (most - least)));
}
