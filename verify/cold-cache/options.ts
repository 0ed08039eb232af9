import type { InitWork } from '../../simulator/base/daemon-connection.ts';

export const ORGANIZATION = 'default';

export type ColdWorldOptions = {
  readonly seed: number;
  /** By name. */
  readonly templates: Readonly<Record<string, InitWork>>;
  /** On average, over all templates. */
  readonly buildsPerDay: number;
  /** A task stops after it has been idle for so many minutes. @default 10 */
  readonly idleMinutes?: number;
  /** Tasks that stay, whether there are builds or not. @default 0 */
  readonly staying?: number;
  /** Dry runs for each build. No list of coderd shows them. @default 0 */
  readonly dryRuns?: number;
  /** The share of builds that fail. @default 0.02 */
  readonly failing?: number;
};
