/**
 * What makes the figures of a backtest mean something else than one thinks: mostly a configuration
 * that is not of this trace.
 */
import { boundJobs, playable } from '../../backtest/bounds/of-a-trace.ts';
import { groupName } from '../../backtest/replay/figures.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { isoTime } from '../../lambda/decision/report/waiting.ts';
import { few, some } from '../../lambda/explain/format.ts';
import { InputError } from '../shared/cli-environment.ts';
import type { Subject } from './subject.ts';

/** Sentences. Throws InputError where nothing can run at all. */
export function cautionsOf(subject: Subject): readonly string[] {
  const played = { ...subject, ...playable(subject) };
  return [...unfit(subject, played), ...outages(played), ...crowds(played)];
}

/** A pool that is on its way out runs nothing any more. */
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
      `running the ${some(jobs.length, 'job')} of "${trace.name}": ${none}${retires} (${names}); give the configuration that is meant for this trace with --config`,
    );
  return [
    `${jobs.length} of ${some(trace.jobs.length, 'job')} can't run (${names}): ${none}${retires}; they are left out, and in no figure`,
  ];
}

function outages({ trace }: Subject): readonly string[] {
  return trace.outages.map(
    ({ at, seconds }) => `coderd is down for ${seconds} s from ${isoTime(at)} on: it is simulated`,
  );
}

/** Jobs at once for which some pools have no room, however early tasks are started. */
function crowds({ trace, config }: Subject): readonly string[] {
  const jobs = boundJobs(trace.jobs, config);
  const kinds = new Map(jobs.map(({ pools }) => [pools.join(), pools]));
  return [...kinds.values()].flatMap((pools) => {
    const within = jobs.filter((job) => job.pools.every((pool) => pools.includes(pool)));
    const crowd = mostAtOnce(within);
    const room = roomOf(config, pools);
    if (crowd.jobs <= room.tasks) return [];
    return [
      `up to ${crowd.jobs} jobs at once (${isoTime(crowd.at)}) are for ${room.name}: some have to wait, whatever the policy`,
    ];
  });
}

type Room = { readonly tasks: number; readonly name: string };

function roomOf({ pools, limits }: Deployment, places: readonly number[]): Room {
  const fitting = places.flatMap((place) => pools[place] ?? []);
  const max = fitting.reduce((sum, pool) => sum + pool.max, 0);
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
