/**
 * Student's t distribution with a whole number of degrees of freedom (Abramowitz and Stegun, Handbook of
 * Mathematical Functions, 26.7.3 and 26.7.4).
 */

/** Half the width of a two-sided interval in standard errors, by bisection. `confidence`: 0 to 1. */
export function studentT(confidence: number, freedom: number): number {
  let [low, high] = [0, LARGEST];
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (shareWithin(middle, freedom) < confidence) low = middle;
    else high = middle;
  }
  return high;
}

const LARGEST = 10_000;
const STEPS = 60;

/** The share of the distribution within `t` standard errors of the mean. */
export function shareWithin(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const squared = Math.cos(angle) ** 2;
  const isOdd = freedom % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let power = isOdd ? 3 : 2; power <= freedom - 2; power += 2) {
    term *= (squared * (power - 1)) / power;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}
