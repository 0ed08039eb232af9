/** Warnings about the figures of a backtest: usually the configuration does not belong to the trace. */
import { InputError } from '../../../../cli/shared/cli-environment.ts';
import { priceNotes } from '../../../../cli/shared/cost-text.ts';
import type { Deployment } from '../../../../lambda/config/rules/deployment.ts';
import { isoTime } from '../../../../lambda/decision/model/brands.ts';
import { sum } from '../../../../lambda/decision/model/collections.ts';
import { few, some, timeText } from '../../../../lambda/explain/format.ts';
import { groupName } from '../../replay/figures.ts';
import { servedJobs, withoutUnservedJobs } from '../../replay/fitting.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import { isMonthly } from './amounts.ts';
import type { Subject } from './subject.ts';

/** The warnings as sentences. Throws InputError if no job of the trace can run. */
export function cautionsOf(subject: Subject): readonly string[] {
  const played = { ...subject, ...withoutUnservedJobs(subject) };
  return [
    ...unfit(subject, played),
    ...outages(played),
    ...emptyTime(played),
    ...peaksOf(played),
    ...priceNotes(subject.config.pools),
  ];
}

/** Jobs that fit no pool. A retiring pool runs no jobs. */
function unfit({ trace, config, configFile }: Subject, played: Subject): readonly string[] {
  const fitting = new Set(played.trace.jobs);
  const jobs = trace.jobs.filter((job) => !fitting.has(job));
  if (jobs.length === 0) return [];
  const groups = [...Map.groupBy(jobs, groupName)].sort(([, a], [, b]) => b.length - a.length);
  const names = few(groups.map(([name, { length }]) => `${length} of "${name}"`));
  const none = `no pool of ${configFile} has their organization and tags`;
  const retires = config.pools.some(({ retiring }) => retiring) ? ', or it is retiring' : '';
  if (jobs.length === trace.jobs.length)
    throw new InputError(
      `running the ${some(jobs.length, 'job')} of "${trace.name}": ${none}${retires} (${names}). Give the configuration of this trace with --config`,
    );
  return [
    `${jobs.length} of ${some(trace.jobs.length, 'job')} cannot run (${names}): ${none}${retires}. The figures do not include them`,
  ];
}

function outages({ trace }: Subject): readonly string[] {
  return trace.outages.map(
    ({ at, seconds }) =>
      `coderd is down for ${seconds} s from ${timeText(isoTime(at))} on, in the simulation too`,
  );
}

/** A header may name a period before the history begins. */
function emptyTime({ trace }: Subject): readonly string[] {
  const { from, to, jobs } = trace;
  const period = { from: jobs[0]?.at ?? from, to: jobs.at(-1)?.at ?? to };
  if (!isMonthly(trace) || 2 * (period.to - period.from) >= to - from) return [];
  return [
    `all builds are within ${lengthLabel({ trace: period })} of ${lengthLabel({ trace })}: the figures take the rest as days without builds. If coderd's history is shorter than the period, correct "from" and "to" in the first line of the trace`,
  ];
}

/** Peaks of concurrent jobs that exceed the limits of their pools, however early tasks start. */
function peaksOf({ trace, config }: Pick<Subject, 'trace' | 'config'>): readonly string[] {
  const jobs = servedJobs(trace.jobs, config);
  const kinds = new Map(jobs.map(({ pools }) => [pools.join(), pools]));
  return [...kinds.values()].flatMap((pools) => {
    const within = jobs.filter((job) => job.pools.every((pool) => pools.includes(pool)));
    const peak = mostAtOnce(within);
    const capacity = capacityOf(config, pools);
    if (peak.jobs <= capacity.tasks) return [];
    return [
      `up to ${peak.jobs} jobs at once (${timeText(isoTime(peak.at))}) may have only ${capacity.name}: with any policy some of them wait`,
    ];
  });
}

type Capacity = { readonly tasks: number; readonly name: string };

function capacityOf({ pools, limits }: Deployment, poolIndexes: readonly number[]): Capacity {
  const fitting = poolIndexes.flatMap((index) => pools[index] ?? []);
  const max = sum(fitting, (pool) => pool.max);
  if (limits.maxTasks < max) return { tasks: limits.maxTasks, name: `${limits.maxTasks} tasks (maxTasks)` };
  return { tasks: max, name: `${some(max, 'task')} (max of ${few(fitting.map(({ name }) => name))})` };
}

function mostAtOnce(jobs: readonly { readonly startMs: number; readonly durationMs: number }[]) {
  const steps = jobs
    .flatMap(({ startMs, durationMs }) => [
      { at: startMs, change: 1 },
      { at: startMs + durationMs, change: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.change - b.change);
  let [now, most] = [0, { jobs: 0, at: 0 }];
  for (const { at, change } of steps) {
    now += change;
    if (now > most.jobs) most = { jobs: now, at };
  }
  return most;
}
