/** Settings of a pool that tests write as autoscaler.yaml has them. */
import type * as z from 'zod';
import type { poolSchema } from '../../lambda/config/schema/schema.ts';

const NAMES = ['wake', 'prewarm', 'startTime', 'schedules'] as const;

export type ForecastSettings = Partial<Pick<z.input<typeof poolSchema>, (typeof NAMES)[number]>>;

/** Those that are said. */
export function forecastSettings(pool: ForecastSettings): ForecastSettings {
  return Object.fromEntries(NAMES.flatMap((name) => (pool[name] === undefined ? [] : [[name, pool[name]]])));
}
