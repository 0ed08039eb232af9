/** Explains the decision about one pool step by step. */
import type { Assigned } from '../../lambda/decision/assign/assignment.ts';
import type { Deliberation } from '../../lambda/decision/decide.ts';
import { oldestOf, type TagGroup } from '../../lambda/decision/demand/demand.ts';
import type { PoolDecision } from '../../lambda/decision/drain/decide-pool.ts';
import type { LeaveDecision } from '../../lambda/decision/drain/leaving.ts';
import { launchesFor } from '../../lambda/decision/drain/needs.ts';
import { poolOfPart } from '../../lambda/decision/model/brands.ts';
import { by } from '../../lambda/decision/model/collections.ts';
import { type Finding, type Plan, REPLACING, type StartTime } from '../../lambda/decision/model/plan.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { covers, displayTags } from '../../lambda/decision/model/tags.ts';
import { isPaused } from '../../lambda/decision/settings/settings-in-force.ts';
import { taskId } from '../../lambda/decision/supply/rows/daemons.ts';
import { isLeaving, type TaskView } from '../../lambda/decision/supply/task-state.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { ageText, seconds, section, some, tagText, textOf, timeText } from '../../lambda/explain/format.ts';
import { overrideText, reasonIn, reasonSentence } from '../../lambda/explain/reason-text.ts';
import { servedText } from '../../lambda/explain/text.ts';
import { forecastLines } from './explain-forecast.ts';

/** Explains one pool as text. Returns undefined if no pool has this name. */
export function explainPool(
  name: string,
  deliberation: Deliberation,
  snapshot: Snapshot,
): string | undefined {
  const decisions = deliberation.pools.filter(({ need }) => poolOfPart(need.view.pool.name) === name);
  return decisions.length === 0
    ? undefined
    : decisions.map((decision) => explainPart(decision, deliberation, snapshot)).join('\n\n');
}

function explainPart(decision: PoolDecision, deliberation: Deliberation, snapshot: Snapshot): string {
  const { pool } = decision.need.view;
  return textOf([
    `pool "${pool.name}" of organization "${pool.organization}", tags ${tagText(pool.tags)}, at ${timeText(deliberation.plan.takenAt)}`,
    ...section('overrides', overrideLines(decision)),
    ...section('demand', demandLines(decision, deliberation, snapshot)),
    ...section('forecast of what coderd will do', forecastLines(decision.need.view, deliberation, snapshot)),
    ...section('supply', supplyLines(decision, snapshot)),
    ...section('needs', needLines(decision)),
    ...section('drains', drainLines(decision)),
    ...section('decision', decidedLines(decision, deliberation.plan)),
    ...section('findings', findingLines(deliberation.plan.findings, decision)),
  ]);
}

/** What changes the configured numbers: overrides and retirement. */
function overrideLines({ need: { view } }: PoolDecision): readonly string[] {
  const retiring = view.pool.retiring ? ['retiring: all tasks drain, and the pool launches nothing'] : [];
  return [...retiring, ...view.overrides.map(overrideText)];
}

function demandLines(
  { need }: PoolDecision,
  { assignment }: Deliberation,
  snapshot: Snapshot,
): readonly string[] {
  const { organization, tags: own } = need.view;
  const groups = Map.groupBy(assignment.assigned, ({ group }) => group);
  const lines = [...groups].flatMap(([group, rows]) =>
    group.organizationId === organization?.id && covers(own, group.tags)
      ? [groupLine(group, rows, snapshot)]
      : [],
  );
  return lines.length > 0 ? lines : ['no pending job fits this pool'];
}

function groupLine(group: TagGroup, rows: readonly Assigned<TagGroup>[], snapshot: Snapshot): string {
  const age = ageText((snapshot.takenAt - oldestOf(group)) / 1000);
  const providers = rows.map(({ offer, jobs }) => `${jobs} ${servedText(offer)}`);
  return `${tagText(displayTags(group.tags))}, ${group.for}: ${some(group.jobs, 'job')}, the oldest for ${age} -> ${providers.join(', ')}`;
}

function supplyLines({ need }: PoolDecision, snapshot: Snapshot): readonly string[] {
  const { service, tasks, missing } = need.view;
  if (service === undefined) return ['no ECS service'];
  return [
    `desired count ${service.desiredCount}, ${some(tasks.length, 'task')}`,
    ...tasks.map((task) => taskLine(task, snapshot)),
    ...(missing > 0 ? [`${some(missing, 'desired task')} not created yet`] : []),
  ];
}

function taskLine(view: TaskView, snapshot: Snapshot): string {
  const { task, use, daemon, idleSince } = view;
  const state = view.state === 'working' ? 'ready' : view.state;
  const [shown, lease] = isLeaving(view) && state === 'unguarded' ? ['leaving', 'no lease, '] : [state, ''];
  const idle = idleSince === undefined ? '' : ` for ${ageText((snapshot.takenAt - idleSince) / 1000)}`;
  const daemonText = daemon === undefined ? 'no daemon' : `daemon ${use}${idle}`;
  return `${taskId(task)}  ${shown.padEnd(9)}  ${lease}${daemonText}`;
}

function needLines({ need }: PoolDecision): readonly string[] {
  const { capacity, jobs, inUse, floor, view } = need;
  const launches = launchesFor(need);
  return [
    `${capacity.inUse} in use + ${some(jobs['by-free'], 'job')} for free daemons + ${jobs['by-starting']} for starting ones + ${launches} that need a new task = ${inUse}`,
    `floors: ${floorsText(need)} -> ${Math.max(inUse, floor.count)}`,
    startTimeText(view.startTime),
    limitsText(need),
    `has ${capacity.total}: ${capacity.working} ready, ${capacity.starting} starting, ${capacity.unguarded} without a lease; not counted: ${capacity.leaving} draining, ${capacity.left} left`,
  ];
}

function limitsText(need: PoolDecision['need']): string {
  const { capacity, view, held } = need;
  const { wanted, granted } = need.tasks;
  const max = `max ${view.pool.max}${maxFrom(view)}`;
  if (granted >= wanted) return `limits: needs ${wanted}, within ${max}`;
  const probe = capacity.isHeldBack ? ', one probe at a time' : '';
  const overall = held.by === undefined ? '' : `, limits.${held.by}`;
  return `limits: needs ${wanted}, gets ${granted} (${max}${probe}${overall})`;
}

/** What sets the limit, unless it is `max` of the configuration. */
function maxFrom({ pool, overrides, minFrom }: PoolDecision['need']['view']): string {
  if (pool.retiring) return ' (retiring)';
  if (isPaused(overrides)) return ' (paused)';
  return minFrom === 'pin' ? ' (pin)' : '';
}

function floorsText({ poolForecast, ready, inUse }: PoolDecision['need']): string {
  const { min, minFrom, warm, warmFrom, wake } = poolForecast.floors;
  const minText = `min ${min}${minFrom === 'min' ? '' : ` (${minFrom})`}`;
  const warmText = `warm ${warm}${warmFrom === 'schedule' ? ' (schedule)' : ''}`;
  const free = ready.stock > warm ? `stock ${ready.stock}` : warmText;
  return `the highest of ${minText}, wake ${wake}, and these ${inUse} + due ${ready.prewarmed} + ${free}`;
}

function startTimeText({ from, samples, p50Ms, p95Ms }: StartTime): string {
  const seen = some(samples, 'start');
  return from === 'learned'
    ? `start time: ${seconds(p50Ms)}, 95 % within ${seconds(p95Ms)} (learned from ${seen})`
    : `start time: ${seconds(p95Ms)} (the setting startTime; ${seen} seen, too few to learn from)`;
}

/** One line per task. A task can be both spare and due for replacement: a drain request wins. */
function drainLines({ leaving, actions }: PoolDecision): readonly string[] {
  const acted = new Set(actions.flatMap((action) => (action.kind === 'ask-to-leave' ? [action.task] : [])));
  const inOrder = leaving.toSorted(by(({ kind }) => (kind === 'leave' ? 1 : 0)));
  const decisions = new Map(inOrder.map((decision) => [decision.task.task.taskArn, decision]));
  return leaving
    .filter((decision) => decisions.get(decision.task.task.taskArn) === decision)
    .map(({ task, kind, why }) => {
      const keeps = REPLACING.some((code) => code === why) ? 'waits for its turn' : 'stays';
      const verb = kind === 'keep' ? keeps : acted.has(task.task.taskArn) ? 'drains' : 'stays for now';
      return `${taskId(task.task)}  ${verb}: ${LEAVE_REASONS[why]}`;
    });
}

const LEAVE_REASONS: Readonly<Record<LeaveDecision['why'], string>> = {
  'idle-long-enough': 'idle for idleTimeout or longer',
  'idle-too-briefly': 'idle for less than idleTimeout',
  'holding-for-deployment': 'a deployment is in progress',
  retiring: 'the pool retires',
  'no-daemon': 'no daemon',
  'wrong-key': "another key than the pool's",
  'old-revision': 'an old revision',
  'old-secret': 'an earlier value of a secret',
};

function decidedLines({ doubts, actions, need, to }: PoolDecision, { pools }: Plan): readonly string[] {
  const from = need.view.service?.desiredCount;
  const row = pools.find(({ name }) => name === poolOfPart(need.view.pool.name));
  const { why = [] } =
    row?.parts?.find(({ service }) => service === need.view.service?.serviceArn) ?? row ?? {};
  return [
    from === undefined || from === to
      ? `desired count stays ${from ?? 'unknown'}`
      : `desired count ${from} -> ${to}${aboveMaxText(to, need)}`,
    ...why.map(row === undefined ? reasonSentence : reasonIn(row.daemons)).map((text) => `because: ${text}`),
    ...(doubts.length > 0 ? [`doubts: ${doubts.join(', ')}`] : []),
    ...(actions.length === 0 ? ['no action'] : []),
  ];
}

/** Why a desired count may be above `max`. */
function aboveMaxText(to: number, { view }: PoolDecision['need']): string {
  return to > view.pool.max ? ` (above max ${view.pool.max}: tasks count until they have left)` : '';
}

function findingLines(findings: readonly Finding[], { need }: PoolDecision): readonly string[] {
  const { pool, organization } = need.view;
  return findings
    .filter((finding) => {
      if ('pool' in finding && finding.pool !== null) return finding.pool === pool.name;
      return (
        !('organization' in finding) ||
        finding.organization === undefined ||
        finding.organization === organization?.name
      );
    })
    .map(sentenceOf);
}
