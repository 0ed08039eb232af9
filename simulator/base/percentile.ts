/**
 * The percentile by nearest rank, of values in ascending order: at least `share` of them (0 to 1)
 * are no greater. 0 if there are no values.
 */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
