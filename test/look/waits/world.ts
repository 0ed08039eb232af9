/** A simulated world with one pool, in which jobs wait. It closes after each test. */
import type { LookResult } from '../../../lambda/look/look.ts';
import { WaitRecord } from '../../../lambda/look/waits/wait-record.ts';
import { type Lab, type LabPool, startLab } from '../../support/lab.ts';

export function startWorld(pool: Partial<LabPool> = {}): Promise<Lab> {
  return startLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 4, ...pool }],
    overHttp: false,
  });
}

/** What the record of one process tells about these looks. */
export function told(looks: readonly LookResult[], durationMs = 0) {
  const record = new WaitRecord();
  const all = looks.map((look) => record.after(look, durationMs));
  return {
    waits: all.flatMap(({ waits }) => waits),
    missed: all.reduce((total, { missed }) => total + missed, 0),
  };
}

export const submit = ({ world }: Lab, durationMs = 60_000) =>
  world.coderd.submitJob({ organization: 'default', tags: {}, durationMs });
