/** Says how few builds make one daemon around the clock cheaper than the autoscaler. */
import type { BreakEven } from '../../replay/result.ts';
import { brief, count, dollars } from './numbers.ts';

/** A few sentences. Undefined: there is no pool. */
export function breakEvenText({ daemons, volumes }: BreakEven): string | undefined {
  const last = volumes.at(-1);
  const above = volumes.at(-2);
  if (last === undefined || daemons === 0) return undefined;
  const { buildsPerDay, autoscaler, oneDaemon, oneDaemonTasks } = last;
  const builds = `${brief(buildsPerDay)} builds a day`;
  const one =
    daemons === 1
      ? 'one daemon around the clock'
      : `a daemon in each of the ${count(daemons)} pools around the clock`;
  if (autoscaler !== undefined && oneDaemon < autoscaler) {
    const both = `it costs ${dollars(oneDaemon)} a month and the autoscaler ${dollars(autoscaler)}, waiting included`;
    return above === undefined
      ? `Break-even: more than your ${builds}. So far ${one} is cheaper: ${both}.`
      : `Break-even: between ${brief(buildsPerDay)} and ${brief(above.buildsPerDay)} builds a day. With fewer, ${one} is cheaper: with ${brief(buildsPerDay)} of yours a day ${both}.`;
  }
  if (autoscaler !== undefined && autoscaler <= oneDaemonTasks) {
    const at = above === undefined ? `your ${builds}` : `${builds} of yours`;
    return `Break-even: none. With your builds or fewer, ${one} is never cheaper: it costs ${dollars(oneDaemonTasks)} a month before anybody waits. With ${at} the autoscaler costs ${dollars(autoscaler)}, waiting included, and with fewer no more.`;
  }
  return `Break-even: none down to ${builds}, the fewest that were replayed: ${one} costs more.`;
}
