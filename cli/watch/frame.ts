/** What the page of `autoscaler watch` shows, as data: pools as lanes, tasks as marks, jobs that wait. */
import type { Deliberation } from '../../lambda/decision/decide.ts';
import { PRICE_OF } from '../../lambda/decision/demand/demand.ts';
import { type EpochMs, isoTime, lastPart, poolOfPart } from '../../lambda/decision/model/brands.ts';
import { sum } from '../../lambda/decision/model/collections.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Doubt, ForecastRow, OverrideKind, PoolPlan, Reason } from '../../lambda/decision/model/plan.ts';
import { poolOfService, STACK_TAG, tagOf } from '../../lambda/decision/model/service-tags.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/decision/model/units.ts';
import { isMismatch } from '../../lambda/decision/report/mismatches.ts';
import { priceOf } from '../../lambda/decision/settings/prices.ts';
import { windowOf } from '../../lambda/decision/settings/schedules.ts';
import { hasJustLeft, isLeaving, type TaskView } from '../../lambda/decision/supply/task-state.ts';
import { some, tagText, transitionsCount } from '../../lambda/explain/format.ts';
import { overrideText, reasonIn } from '../../lambda/explain/reason-text.ts';
import { MOST_WORDS, starterText } from '../../lambda/explain/text.ts';
import { brief } from '../shared/brief.ts';
import { type LogFacts, lookLine } from '../status/read-log.ts';
import { statusOf } from '../status/report.ts';
import { findingsText, startNote, waitingText } from '../status/screen.ts';
import { inOrderOfNeed, poolStateOf } from './pool-state.ts';
import { drawStrip } from './strip/drawing.ts';
import type { History } from './strip/history.ts';
import { seriesOf } from './strip/series.ts';
import { waitingGroups } from './waiting.ts';
import type { TimedChange } from './watched-log.ts';

export type WatchFrame = ReturnType<typeof frameOf>;

/** `silent`: it should have a daemon and has none, or its use is unknown. `gone`: ECS is stopping it. */
type MarkState = 'starting' | 'free' | 'building' | 'draining' | 'gone' | 'silent';

export type Watched = {
  readonly snapshot: Snapshot;
  readonly deliberation: Deliberation;
  readonly config: Config;
  readonly log: LogFacts;
  /** The newest first. */
  readonly changes: readonly TimedChange[];
  /** As of the time of the snapshot. */
  readonly history: History;
  readonly note: string | null;
};

/** Schedules begin within this time, in milliseconds. */
const AHEAD_MS = 6 * HOUR_MS;

/** One frame of the page. Sentences are those of `plan` and `status`. */
export function frameOf({ snapshot, deliberation, config, log, changes, history, note }: Watched) {
  const { plan } = deliberation;
  const status = statusOf(snapshot, deliberation, config, log);
  const { waiting, broken, lastLook } = status;
  const several = new Set(config.pools.map(({ organization }) => organization)).size > 1;
  const named = (tags: string, organization: string): string =>
    several ? `${tags} (${organization})` : tags;
  const lanes = plan.pools.map((pool) => laneOf(pool, deliberation, config));
  const prices = new Map(config.pools.map((pool) => [pool.name as string, priceOf(pool) / 1e6]));
  const series = seriesOf(history, snapshot.takenAt, prices);
  return {
    takenAt: plan.takenAt,
    identity: identityOf(snapshot, config),
    headline: `${waitingText(waiting)}; ${findingsText(broken.length)}`,
    /** With its time: a page that stays open would show an old age. */
    lastLook: lookLine(lastLook, false),
    findings: broken.map((line) => toldOf(line, MOST_WORDS.line)),
    unschedulable: waiting.nobody.map((line) => toldOf(line, MOST_WORDS.line)),
    lanes,
    waiting: waitingGroups({ snapshot, plan, status, coderUrl: config.coder.url, named }),
    /** What limits the promises: the function does not look, or its looks fail. */
    waitingNote: waiting.jobs === 0 ? null : (startNote(status)[0] ?? null),
    next: [
      ...plan.forecast.map((row) => ({ at: row.at, text: forecastText(row, plan.takenAt) })),
      ...config.pools.flatMap((pool) => schedulesOf(pool, snapshot.takenAt)),
    ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)),
    changes: changes.map(({ at, pool, kind, what, short, others }) => ({
      ...{ at, pool, kind, what },
      brief: brief(`${pool} ${short}`, MOST_WORDS.reason),
      whole: [`${pool} ${short}`, ...others].join('; '),
    })),
    dollars: {
      anHour: sum(lanes, ({ dollarsAnHour }) => dollarsAnHour),
      /** What the jobs that wait for these pools cost an hour, at the prices of `waiting`. */
      waitingAnHour: sum(plan.assignment, ({ jobs, pool: name, for: audience }) => {
        const pool = config.pools.find((each) => each.name === name);
        return pool === undefined ? 0 : 60 * jobs * pool.waiting[PRICE_OF[audience]];
      }),
      /** What the tasks of the strip cost, and what a fixed fleet of each pool's peak had cost. */
      past: series.past,
    },
    strip: { ...drawStrip(series), note },
  };
}

/** Which deployment it is. A list that cannot be read hides the stack and the Region. */
function identityOf({ ecs }: Snapshot, { coder, pools }: Config) {
  const names = new Set<string | undefined>(pools.map(({ name }) => name));
  const own = ecs.services.items.find((service) => names.has(poolOfService(service)));
  return {
    coderd: new URL(coder.url).host,
    stack: (own && tagOf(own, STACK_TAG)) ?? null,
    region: own?.serviceArn.split(':')[3] || null,
  };
}

/** A text, and its first sentences if it is long. The page unfolds it. */
const toldOf = (whole: string, most: number) => ({ brief: brief(whole, most), whole });

function laneOf(plan: PoolPlan, { pools, plan: { findings } }: Deliberation, config: Config) {
  const views = pools.map(({ need }) => need.view).filter(({ pool }) => poolOfPart(pool.name) === plan.name);
  const tasks = views.flatMap((view) => view.tasks);
  const leaving = tasks.filter((task) => isLeaving(task) || task.state === 'left').length;
  const configured = config.pools.find(({ name }) => name === plan.name);
  const marks = tasks.map(markOf);
  const known = { ...plan, why: knownReasons(plan, findings) };
  return {
    name: plan.name as string,
    state: poolStateOf({
      ...{ plan: known, findings },
      isMoving: marks.some(({ state }) => state !== 'free'),
    }),
    tags: tagText(configured?.tags ?? {}),
    /** The desired count: what it is, and what the next look makes it. Null: no service. */
    desired: plan.desired,
    floor: plan.floor.count,
    max: configured?.max ?? null,
    /** The tasks that stay, which `max` limits, those to come too; and those that drain or have left. */
    staying: tasks.length - leaving + plan.notCreated,
    leaving,
    why: whyOf(known),
    tasks: marks,
    /** Desired tasks that ECS has not created. */
    notCreated: plan.notCreated,
    dollarsAnHour: sum(views, ({ tasks, pool }) => (tasks.length * priceOf(pool)) / 1e6),
  };
}

/** Without a doubt that one look alone does not prove, and without what an override says better. */
function knownReasons({ name, why }: PoolPlan, findings: Deliberation['plan']['findings']) {
  const isKnown = (doubt: Doubt): boolean =>
    !isMismatch(doubt) ||
    findings.some((finding) => finding.code === doubt && (!('pool' in finding) || finding.pool === name));
  return why.flatMap((reason): readonly Reason[] => {
    if (reason.code === 'nothing-to-do') return [];
    if (reason.code === 'floor' && (reason.from === 'pin' || reason.from === 'override')) return [];
    if (reason.code !== 'holding-for-doubt') return [reason];
    const doubts = reason.doubts.filter(isKnown);
    return doubts.length === 0 ? [] : [{ ...reason, doubts }];
  });
}

/** Overrides with their end, author and reason: some reasons of the plan have only the effect. What is wrong comes first. */
function whyOf({ overrides, why, daemons }: PoolPlan) {
  const { wrong, others } = inOrderOfNeed(why, daemons);
  const unsaid = overrides.filter(({ kind }) => !why.some(({ code }) => code === SAYS[kind]));
  const inPool = reasonIn(daemons);
  const texts = [...wrong.map(inPool), ...unsaid.map(overrideText), ...others.map(inPool)];
  return (texts.length === 0 ? ['nothing to do'] : texts).map((text) => toldOf(text, MOST_WORDS.reason));
}

/** The reason that has the end, the author and the reason of an override too. */
const SAYS: Readonly<Record<OverrideKind, Reason['code'] | undefined>> = {
  pause: 'paused',
  'pause-scale-in': 'scale-in-paused',
  pin: 'pinned',
  floor: undefined,
};

function markOf(view: TaskView) {
  const { task, idleSince, use } = view;
  const state = stateOf(view);
  const since = state === 'free' ? idleSince : state === 'starting' ? task.createdAt : undefined;
  return {
    id: lastPart(task.taskArn),
    state,
    /** It drains once its build ends. */
    isBuilding: use === 'busy',
    since: since === undefined ? null : isoTime(since),
  };
}

function stateOf(view: TaskView): MarkState {
  const { state, use } = view;
  if (state === 'left' || hasJustLeft(view)) return 'gone';
  if (state === 'leaving') return 'draining';
  if (use === 'busy') return 'building';
  if (state === 'starting' || use === 'registering') return 'starting';
  return use === 'idle' ? 'free' : 'silent';
}

/**
 * `23 autostops (team=web); pool "web" provides a daemon for them`. It is no news that nothing starts for what
 * comes later.
 */
function forecastText({ tags, ...row }: ForecastRow, takenAt: string): string {
  const named = Object.keys(tags).length === 0 ? tagText(tags) : `(${tagText(tags)})`;
  const isLater = row.pool === null && row.at > takenAt;
  return [`${transitionsCount(row)} ${named}`, ...(isLater ? [] : [starterText(row)])].join('; ');
}

/** The schedules of a pool that begin soon. */
function schedulesOf({ name, schedules }: Config['pools'][number], now: EpochMs) {
  return schedules.flatMap((schedule) => {
    const dates = [now, now + DAY_MS].map((at) => isoTime(at as EpochMs).slice(0, 10));
    const windows = dates.flatMap((date) => [windowOf(schedule, date)].filter((each) => each !== undefined));
    const soon = windows.find(({ from }) => from > now && from <= now + AHEAD_MS);
    if (soon === undefined) return [];
    const { min, warm } = schedule;
    const keeps = [
      ...(min > 0 ? [`at least ${some(min, 'task')}`] : []),
      ...(warm > 0 ? [some(warm, 'free daemon')] : []),
    ];
    return [{ at: isoTime(soon.from), text: `pool "${name}": a schedule keeps ${keeps.join(' and ')}` }];
  });
}
