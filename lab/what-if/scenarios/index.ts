/** All scenarios of the project, and the path of the configuration of each. */
import { fileURLToPath } from 'node:url';
import type { Scenario } from '../trace/generate/scenario.ts';
import { ONE_THOUSAND, TEN_THOUSAND, THREE_THOUSAND } from './sizes.ts';
import { AGENTS, BURSTS, GPU_POOLS, PREBUILD_HEAVY, SMALL_TEAM } from './special.ts';

export const SCENARIOS: readonly Scenario[] = [
  SMALL_TEAM,
  ONE_THOUSAND,
  THREE_THOUSAND,
  TEN_THOUSAND,
  GPU_POOLS,
  PREBUILD_HEAVY,
  BURSTS,
  AGENTS,
];

export function configFileOf({ config }: Scenario): string {
  return fileURLToPath(new URL(`../../../${config}`, import.meta.url));
}
