/** The normal distribution, by rational approximations that are right to four digits. */

/** The value that a standard normal number is below with this chance (Abramowitz and Stegun 26.2.23). */
export function normalQuantile(chance: number): number {
  const tail = Math.min(chance, 1 - chance);
  const t = Math.sqrt(-2 * Math.log(tail));
  const far =
    t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return chance < 0.5 ? -far : far;
}

/** The chance that a standard normal number is above `value` (Abramowitz and Stegun 26.2.17). */
export function chanceAbove(value: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(value));
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = Math.exp((-value * value) / 2) * 0.3989422804 * series;
  return value > 0 ? tail : 1 - tail;
}
