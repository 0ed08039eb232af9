/** Settings of a pool in the form of autoscaler.yaml. */
import type * as z from 'zod';
import type { poolSchema } from '../../lambda/config/schema/schema.ts';

const NAMES = ['wake', 'startTime', 'schedules', 'dollarsPerLaunch'] as const;

export type ForecastSettings = Partial<Pick<z.input<typeof poolSchema>, (typeof NAMES)[number]>>;

/** The settings of the forecast that the pool has. */
export function forecastSettings(pool: ForecastSettings): ForecastSettings {
  return Object.fromEntries(NAMES.flatMap((name) => (pool[name] === undefined ? [] : [[name, pool[name]]])));
}
