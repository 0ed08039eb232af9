/**
 * Pictures in words. Semicolons separate pools, jobs, workspaces and daemons outside the pools:
 *
 *   cpu B I9m, min 1; eu P [gpu eu], max 2   pools with their tasks, tags and settings
 *   3 jobs; prebuild 90s [gpu]               jobs that wait, for 90 seconds
 *   2 starts in 60s; stop 30s ago            workspaces whose transitions are due or overdue
 *   stranger; busy stranger [gpu]            daemons outside the pools
 *   no workspaces; maxTasks 4; autostarts cost 0
 *
 * `[gpu eu]` are the tags cluster=gpu and region=eu. A pool also has `no wake`
 * and `daemons [tpu]`, the tags of its daemons. `scheduled` is a
 * schedule of 5 tasks with 2 warm ones. `paused`, `scaleInPaused`, `pin 3` and `floor 2` are overrides
 * that last for another hour (`NOTE`), unless `pin-until 2026-11-20T09:00:00Z` says otherwise.
 */
import type { WorkspacesPicture } from './forecast-picture.ts';
import { HOUR, NOW } from './parts.ts';
import type { JobsPicture, Picture, PoolPicture } from './picture.ts';

type Tags = Readonly<Record<string, string>>;

/** End, author and reason of the overrides. */
export const NOTE = { until: new Date(NOW + HOUR).toISOString(), by: 'anna', why: 'load test' };

const KNOWN_TAGS: Readonly<Record<string, string>> = {
  gpu: 'cluster=gpu',
  tpu: 'cluster=tpu',
  eu: 'region=eu',
};

const WAITING =
  /^(?:(\d+) )?(job|prebuild|start|stop|stranger|busy stranger)s?(?: in)?(?: ([\d.]+)s( ago)?)?(?: of (\S+))?$/;

const TASK = /^(?:[BRZPNLX]|[IU]\d+m)$/;
const FACTS = new Set(
  (
    'min max warm desired cpu ageMinutes idleTimeout startTime dollarsPerLaunch organization deploying retiring ' +
    'daemons no scheduled paused scaleInPaused pin floor pause-until pin-until'
  ).split(' '),
);

export function pictureOf(text: string): Picture {
  const pools: Record<string, PoolPicture> = {};
  const pending: JobsPicture[] = [];
  const strangers: { tags: Tags; busy: boolean }[] = [];
  let workspaces: WorkspacesPicture[] | undefined;
  let maxTasks: number | undefined;
  let isFree = false;
  for (const part of text.split('; ')) {
    const [first = '', ...facts] = part.split(', ');
    const tags = tagsIn(first);
    const subject = first.replace(/ ?\[.*\]/, '');
    const [, number = '1', what, duration, isOver, organization = 'default'] = WAITING.exec(subject) ?? [];
    const count = Number(number);
    const seconds = duration === undefined ? undefined : Number(duration) * (isOver ? -1 : 1);
    if (subject === 'no workspaces') workspaces = [];
    else if (subject === 'autostarts cost 0') isFree = true;
    else if (subject.startsWith('maxTasks ')) maxTasks = Number(subject.slice(9));
    else if (what === undefined) pools[subject.split(' ')[0] ?? ''] = poolOf(subject, tags, facts);
    else if (what === 'job' || what === 'prebuild') {
      const age = seconds === undefined ? {} : { ageS: seconds };
      pending.push({ jobs: count, prebuilds: what === 'prebuild', organization, tags, ...age });
    } else if (what.endsWith('stranger')) strangers.push({ tags, busy: what !== 'stranger' });
    else {
      const due = what === 'start' ? { startsInS: seconds ?? 0 } : { stopsInS: seconds ?? 0 };
      workspaces = [...(workspaces ?? []), { count, tags, ...due }];
    }
  }
  return {
    pools,
    pending,
    strangers,
    ...(workspaces === undefined ? {} : { workspaces }),
    ...(maxTasks === undefined ? {} : { maxTasks }),
    ...(isFree ? { waiting: { autostart: 0 } } : {}),
  };
}

/** The tags in brackets. */
function tagsIn(text: string): Tags {
  const [, names] = /\[(.*)\]/.exec(text) ?? [];
  return Object.fromEntries((names?.split(' ') ?? []).map((name) => (KNOWN_TAGS[name] ?? name).split('=')));
}

/** One pool: `cpu B I9m` with the facts `min 1`, `no wake`. */
function poolOf(subject: string, tags: Tags, facts: readonly string[]): PoolPicture {
  const tasks = subject.split(' ').slice(1);
  if (!tasks.every((task) => TASK.test(task)))
    throw new Error(`neither a pool nor anything else: ${subject}`);
  const pool: Record<string, unknown> = { tasks: tasks.join(' '), tags };
  for (const fact of facts) {
    const [name = '', value = ''] = fact.split(' ');
    if (!FACTS.has(name)) throw new Error(`not a fact of a pool: ${fact}`);
    if (name === 'daemons') pool.daemonTags = tagsIn(fact);
    else if (name === 'no') pool[value] = false;
    else if (name === 'scheduled')
      pool.schedules = [{ from: '08:00', to: '10:00', timezone: 'UTC', min: 5, warm: 2 }];
    else if (isOverride(name)) pool.overrides = { ...(pool.overrides as object), ...tagsOf(name, value) };
    else pool[name] = value === '' ? true : /^\d+$/.test(value) ? Number(value) : value;
  }
  return pool;
}

const isOverride = (name: string): boolean =>
  ['paused', 'scaleInPaused', 'pin', 'floor'].includes(name) || name.endsWith('-until');

/** The tags of an override, in the notation of a picture of a pool. */
function tagsOf(name: string, value: string): Tags {
  if (name.endsWith('-until')) return { [name]: value };
  if (name === 'paused') return set('pause', 'all');
  return name === 'scaleInPaused' ? set('pause', 'scale-in') : set(name, value);
}

const set = (kind: string, value: string): Tags => ({
  [kind]: value,
  [`${kind}-until`]: NOTE.until,
  [`${kind}-by`]: NOTE.by,
  [`${kind}-why`]: NOTE.why,
});
