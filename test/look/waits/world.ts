/** A simulated world with one pool, in which jobs wait. It closes after each test. */
import { type Lab, type LabPool, startLab } from '../../support/lab.ts';

export function startWorld(pool: Partial<LabPool> = {}): Promise<Lab> {
  return startLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 4, ...pool }],
    overHttp: false,
  });
}

export const submit = ({ world }: Lab, durationMs = 60_000) =>
  world.coderd.submitJob({ organization: 'default', tags: {}, durationMs });
