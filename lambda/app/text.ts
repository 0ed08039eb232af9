/** Sentences for people: what a plan's codes mean. The only place that words them. */
import type {
  Action,
  AssignmentRow,
  Doubt,
  Finding,
  ForecastRow,
  Plan,
  PoolPlan,
  Reason,
  TransitionKind,
  Transitions,
  UnservedRow,
} from '../core/plan.ts';
import type { Tags } from '../core/tags.ts';

/** A plan as a person reads it: a line a pool, then jobs that nobody serves, then findings. */
export function planText(plan: Plan): string {
  return [
    `plan for ${plan.takenAt}`,
    '',
    ...poolLines(plan),
    ...section('jobs for daemons that are not ours', plan.assignment.flatMap(foreignSentence)),
    ...section(
      'jobs that nobody can run',
      plan.unserved.map((row) => unservedSentence(row, plan.takenAt)),
    ),
    ...list(
      'what coderd will do by itself within the hour',
      plan.forecast.map((row) => forecastSentence(row, plan.takenAt)),
    ),
    ...section('findings', findingLines(plan.findings)),
    '',
    summary(plan.actions),
  ].join('\n');
}

function poolLines(plan: Plan): readonly string[] {
  const rows = plan.pools.map((pool) => ({ mark: markOf(pool, plan.actions), pool }));
  const nameWidth = Math.max(0, ...rows.map(({ pool }) => pool.name.length));
  const changes = rows.map(({ pool }) => changeOf(pool));
  const changeWidth = Math.max(0, ...changes.map((change) => change.length));
  return rows.map(({ mark, pool }, index) => {
    const change = (changes[index] ?? '').padEnd(changeWidth);
    const why = [...rungText(pool), ...pool.why.map(reasonSentence)].join('; ');
    return `  ${mark} ${pool.name.padEnd(nameWidth)}  ${change}  ${why}${countsOf(pool)}`;
  });
}

/** How a pool is scaled in, where it is not by lease. */
function rungText({ scaleIn }: PoolPlan): readonly string[] {
  return scaleIn === 'lease' ? [] : [`scaleIn: ${scaleIn}`];
}

/** `+` more tasks, `-` fewer, `~` somebody is asked to leave. */
function markOf({ name, desired }: PoolPlan, actions: readonly Action[]): string {
  if (desired.from === null || desired.to === null) return '!';
  if (desired.to > desired.from) return '+';
  if (desired.to < desired.from) return '-';
  return actions.some(({ pool, kind }) => pool === name && kind === 'ask-to-leave') ? '~' : ' ';
}

function changeOf({ desired }: PoolPlan): string {
  if (desired.from === null || desired.to === null) return '?';
  return desired.from === desired.to ? `${desired.from}` : `${desired.from} -> ${desired.to}`;
}

function countsOf({ daemons }: PoolPlan): string {
  const parts = Object.entries(daemons).flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []));
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ! ${line}`)];
}

function list(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `    ${line}`)];
}

/** Times of one form compare as texts. */
function forecastSentence({ organization, tags, pool, ...row }: ForecastRow, takenAt: string): string {
  const who = pool === null ? 'no pool has to be awake' : `pool "${pool}" is to be awake`;
  const overdue = row.at < takenAt ? ', overdue' : '';
  return `organization "${organization}", tags ${tagText(tags)}: ${transitionsText([row])}${overdue}; ${who} for ${itOrThem(row)}${pool === null ? ' now' : ''}`;
}

function summary(actions: readonly Action[]): string {
  const counts = actions.filter((action) => action.kind === 'set-desired');
  const raised = counts.filter(({ from, to }) => to > from).length;
  const asked = actions.filter(({ kind }) => kind === 'ask-to-leave').length;
  const kept = actions.length - counts.length - asked;
  if (actions.length === 0) return 'no changes';
  const protections = kept === 0 ? '' : `, ${some(kept, 'task')} to protect`;
  return `${some(raised, 'count')} to raise, ${some(asked, 'task')} to ask to leave${protections}, ${some(counts.length - raised, 'count')} to lower`;
}

/** One reason as a sentence. */
export function reasonSentence(reason: Reason): string {
  switch (reason.code) {
    case 'pending-jobs':
      return `${some(reason.jobs, 'pending job')} ${reason.jobs === 1 ? 'needs' : 'need'} a new task`;
    case 'served-by-free':
      return `${some(reason.jobs, 'pending job')} for free daemons`;
    case 'served-by-starting':
      return `${some(reason.jobs, 'pending job')} for daemons that are starting`;
    case 'floor':
      return FLOORS[reason.from](reason.count);
    case 'awake-for':
      return `to be awake for ${transitionsText(reason.for)}`;
    case 'holding-for-forecast':
      return 'its last daemon stays, since not all that coderd will do by itself is known (see findings)';
    case 'prewarm':
      return `${some(reason.daemons, 'daemon')} to be ready for ${some(reason.due, 'job')} that coderd is about to create`;
    case 'capped-at-prewarm-max':
      return `held at its prewarm.max of ${reason.max}, more when the jobs are there`;
    case 'capped-at-max':
      return `wants ${reason.wanted}, held at its max of ${reason.max}`;
    case 'capped-at-max-tasks':
      return `wants ${reason.wanted}, gets ${reason.granted}: limits.maxTasks is ${reason.maxTasks} over all pools`;
    case 'idle-long-enough':
      return `asking ${some(reason.tasks, 'idle daemon')} to leave`;
    case 'idle-too-briefly':
      return `${some(reason.tasks, 'spare daemon')} not idle for idleTimeout yet`;
    case 'no-daemon':
      return `${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'holds' : 'hold'} a lease and ${reason.tasks === 1 ? 'has' : 'have'} no daemon; ${turnText(reason)}`;
    case 'wrong-key':
      return `${some(reason.tasks, 'daemon')} with another key than the pool's; ${turnText(reason)}`;
    case 'old-revision':
      return `${some(reason.tasks, 'task')} of an old revision; ${turnText(reason)}`;
    case 'protecting':
      return `protecting ${some(reason.tasks, 'task')} that ${reason.tasks === 1 ? 'has' : 'have'} no guard`;
    case 'stopping-after-confirmation':
      return reason.unprotected === 0
        ? `${some(reason.tasks, 'idle daemon')} to be stopped once a second look confirms it`
        : `${some(reason.tasks, 'idle daemon')} to be stopped once ${some(reason.unprotected, 'other task')} ${reason.unprotected === 1 ? 'is' : 'are'} protected`;
    case 'holding-for-protection':
      return `${some(reason.tasks, 'spare daemon')} still protected from the last build`;
    case 'never-scaled-in':
      return `${some(reason.tasks, 'spare daemon')}, which nobody asks to leave`;
    case 'tasks-left':
      return `${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'has' : 'have'} left`;
    case 'count-below-tasks':
      return `the desired count ${reason.desired} is below the ${some(reason.tasks, 'task')} that ${reason.tasks === 1 ? 'has' : 'have'} not left`;
    case 'holding-for-starting':
      return `not lowered while ${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'is' : 'are'} starting`;
    case 'holding-for-unguarded':
      return `not lowered while ${some(reason.tasks, 'task')} ${reason.tasks === 1 ? 'runs' : 'run'} without a lease`;
    case 'holding-for-deployment':
      return 'not scaled in while a deployment is in progress';
    case 'holding-for-doubt':
      return `not scaled in: ${reason.doubts.map(doubtPhrase).join(', ')}`;
    case 'starts-failing':
      return `${reason.failures === 0 ? 'tasks do not start' : `${some(reason.failures, 'start')} failed and none has succeeded since`}, so one probe at a time (wants ${reason.wanted}, gets ${reason.granted}): ${startHint(reason.reason)}`;
    case 'waiting-for-vacant':
      return `nothing is launched before ${some(reason.tasks, 'task')} that never had a daemon ${reason.tasks === 1 ? 'is' : 'are'} gone`;
    case 'server-too-old':
      return `coderd ${reason.version} is too old; ${reason.oldest} or newer is needed`;
    case 'no-service':
      return 'no ECS service to act on';
    case 'nothing-to-do':
      return 'nothing to do';
    default:
      return reason satisfies never;
  }
}

const FLOORS: Readonly<
  Record<Extract<Reason, { readonly code: 'floor' }>['from'], (count: number) => string>
> = {
  min: (count) => `min keeps ${count}`,
  warm: (count) => `warm keeps ${count}, jobs included`,
  schedule: (count) => `a schedule keeps ${count}, jobs included`,
};

/** `5 autostarts from 2026-11-20T09:00:00.000Z on`. */
export function transitionsText(all: readonly Transitions[]): string {
  return all
    .map(({ kind, transitions, at }) => {
      const [one, many] = NOUNS[kind];
      return transitions === 1 ? `1 ${one} at ${at}` : `${transitions} ${many} from ${at} on`;
    })
    .join(' and ');
}

const NOUNS: Readonly<Record<TransitionKind, readonly [one: string, many: string]>> = {
  autostart: ['autostart', 'autostarts'],
  autostop: ['autostop', 'autostops'],
  dormancy: ['workspace to become dormant', 'workspaces to become dormant'],
  deletion: ['dormant workspace to be deleted', 'dormant workspaces to be deleted'],
};

function itOrThem({ transitions }: Pick<Transitions, 'transitions'>): string {
  return transitions === 1 ? 'it' : 'them';
}

/** Those that are replaced: how many are asked now. */
function turnText({ tasks, asked }: { readonly tasks: number; readonly asked: number }): string {
  if (asked === tasks) return `asking ${tasks === 1 ? 'it' : 'them'} to leave`;
  return asked === 0
    ? `${tasks === 1 ? 'it waits for its' : 'they wait for their'} turn to be replaced`
    : `asking ${asked} of them to leave`;
}

function doubtPhrase(doubt: Doubt): string {
  switch (doubt) {
    case 'organization-unknown':
      return 'its organization is not in sight';
    case 'daemons-empty-while-leased':
      return 'coderd lists no daemon although tasks hold leases';
    case 'jobs-empty-while-busy':
      return 'coderd lists no job although daemons are busy';
    case 'worker-unknown':
      return 'a running job has a worker that coderd does not list';
    case 'daemons-share-name':
      return 'two daemons have one name';
    case 'clocks-differ':
      return 'clocks differ';
    case 'server-too-old':
      return 'coderd is too old';
    case 'tasks-fewer-than-counted':
      return 'ECS lists fewer tasks than it counts';
    default:
      return readingPhrase(doubt);
  }
}

/** `previous-jobs-truncated` in words. */
function readingPhrase(code: string): string {
  const [, reading = '', status = ''] = /^(.*)-(\w+)$/.exec(code) ?? [];
  return `the list of ${reading.replace('-', ' ')} is ${status}`;
}

/** Findings as lines, one a cause: lists that could not be read for one reason are told together. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  const byCause = Map.groupBy(findings, (finding) => ('error' in finding && finding.error) || finding);
  return [...byCause.values()].map((alike) => {
    const [first, ...others] = alike;
    if (first === undefined || others.length === 0) return first === undefined ? '' : sentenceOf(first);
    const lists = [...new Set(alike.map(({ code }) => code.replace(/-\w+$/, '').replace('-', ' ')))].join(
      ', ',
    );
    const names = alike.flatMap((finding) =>
      'organization' in finding ? [`"${finding.organization}"`] : [],
    );
    const where = names.length === 0 ? '' : ` of ${[...new Set(names)].join(', ')}`;
    return `${'error' in first ? first.error : sentenceOf(first)}; not read for this: ${lists}${where}${alike.map(consequence).find((text) => text !== '') ?? ''}`;
  });
}

/** One finding as a sentence. */
export function sentenceOf(finding: Finding): string {
  switch (finding.code) {
    case 'version-unknown':
      return 'coderd did not tell its version; it is read as an older one, which lists offline daemons unasked';
    case 'organization-unknown':
      return `organization "${finding.organization}" is not in the snapshot`;
    case 'daemons-empty-while-leased':
      return `organization "${finding.organization}": coderd lists no daemon although ${some(finding.tasks, 'task')} of its pools hold leases; holding. If a key was deleted, give the pool a new one; if none of its tasks ever had a daemon, their logs say why`;
    case 'jobs-empty-while-busy':
      return `organization "${finding.organization}": coderd lists no job although ${some(finding.daemons, 'daemon')} ${finding.daemons === 1 ? 'is' : 'are'} busy; holding`;
    case 'worker-unknown':
      return `organization "${finding.organization}": ${some(finding.jobs, 'running job')} of a daemon that coderd does not list (a deleted key does that); its pools are not scaled in`;
    case 'server-too-old':
      return `coderd ${finding.version} has no list of provisioner jobs; ${finding.oldest} or newer is needed, so nothing is done`;
    case 'image-newer-than-server':
      return `pool "${finding.pool}": its image ${finding.image} is newer than coderd ${finding.version}, which refuses its daemons; use the image of coderd's version`;
    case 'daemons-share-name':
      return `organization "${finding.organization}": several daemons are called ${few(finding.names)}; their jobs can't be told apart, so its pools are not scaled in`;
    case 'clocks-differ':
      return clockSentence(finding);
    case 'starts-failing':
      return `pool "${finding.pool}": ${finding.tasks === 0 ? 'tasks do not start' : `${some(finding.tasks, 'task')} failed to start since a daemon last registered`}: ${startHint(finding.reason)}`;
    case 'daemons-without-task':
      return `pool "${finding.pool}": ${some(finding.daemons.length, 'daemon')} that no task explains (${few(finding.daemons)}); no capacity is counted on them`;
    case 'jobs-waiting':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: ${some(finding.jobs, 'job')} pending for long, the oldest since ${finding.oldest}${finding.pool === null ? '' : `; pool "${finding.pool}" is to run them`}`;
    case 'jobs-about-to-fail':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: coderd will fail ${some(finding.jobs, 'job')} after 30 min of waiting, from ${finding.failsAt} on, before capacity can be there`;
    case 'workspaces-empty':
      return `organization "${finding.organization}": coderd lists no workspace although ${some(finding.jobs, 'build')} of workspaces ${finding.jobs === 1 ? 'is' : 'are'} in the queue; its pools keep their last daemon`;
    case 'transitions-without-pool':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: ${transitionsText([finding])}, and no pool has these tags: coderd will not do ${itOrThem(finding)} without a daemon that has them; add a pool with these tags, or change those of the template`;
    case 'transitions-late':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: ${transitionsText([finding])}, overdue for longer than wake.maxDelay; coderd does ${itOrThem(finding)} once it sees a daemon with these tags`;
    case 'tasks-fewer-than-counted':
      return `pool "${finding.pool}": ECS counts ${finding.counted} tasks and lists ${finding.seen}; not scaled in until they agree`;
    case 'service-without-pool':
      return `service "${finding.service}" has the tag of a pool "${finding.pool}" that the configuration does not have: nobody sizes it; deploy the configuration, or delete the service`;
    case 'pools-alike':
      return `pools ${finding.pools.map((name) => `"${name}"`).join(', ')} have the same tags in organization "${finding.organization}" (named once by name and once by UUID); make them one`;
    case 'service-missing':
      return `pool "${finding.pool}": no active ECS service in the cluster has the tag coder-autoscaler:pool=${finding.pool}; deploy it, or remove the pool from the configuration`;
    case 'service-ambiguous':
      return `pool "${finding.pool}": ${finding.services.length} services have its tag (${finding.services.join(', ')}); leave it on one of them`;
    case 'daemon-tags-differ':
      return `pool "${finding.pool}": ${some(finding.daemons.length, 'daemon')} ${finding.daemons.length === 1 ? 'offers' : 'offer'} other tags than the pool's (${few(finding.daemons)}); its key is another pool's, or the key's tags were changed`;
    case 'tasks-unguarded':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} without a lease (${few(finding.tasks)}); the pool is not scaled in while it has any`;
    case 'tasks-vacant':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} ran for 15 min and never took a lease or registered a daemon (${few(finding.tasks)}); look at the task's log`;
    case 'tasks-without-daemon':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} that should have a daemon and ${finding.tasks.length === 1 ? 'has' : 'have'} none (${few(finding.tasks)}); look at the task's log`;
    default: {
      const where = finding.organization === undefined ? '' : `organization "${finding.organization}": `;
      const cause = finding.error === undefined ? '' : `: ${finding.error}`;
      return `${where}${readingPhrase(finding.code)}${cause}${consequence(finding)}`;
    }
  }
}

/** What it means that a list could not be read. */
function consequence(finding: Finding): string {
  switch (finding.code) {
    case 'jobs-truncated':
      return '; the oldest pending jobs are the ones that are missing';
    case 'workspaces-stale':
    case 'templates-stale':
      return `; what was read at ${finding.takenAt} is used`;
    case 'workspaces-forbidden':
    case 'workspaces-failed':
    case 'workspaces-truncated':
    case 'templates-forbidden':
    case 'templates-failed':
    case 'templates-truncated':
      return '; pools keep their last daemon, and those at zero are not woken for what can not be seen';
    default:
      return '';
  }
}

function clockSentence({
  where,
  organization,
  seconds,
}: Extract<Finding, { readonly code: 'clocks-differ' }>): string {
  const place = organization === undefined ? '' : `organization "${organization}": `;
  const what = {
    readings: 'one list was read',
    jobs: 'a job was submitted',
    daemons: 'a daemon was seen',
    tasks: 'a task was started',
  };
  return `${place}${what[where]} ${seconds} s ${where === 'readings' ? 'before another one of the same look' : "ahead of coderd's clock"}; not scaled in until the clocks agree`;
}

/** What the words of ECS mostly mean, before the words themselves. */
const START_HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /exit code 75/,
    'the guard got no lease within 10 min; while a deployment goes on ECS may refuse leases, else see its log and the task role',
  ],
  [
    /connection issue|network configuration|RequestError|timeout waiting for network/i,
    'the task has no way to AWS or the registry',
  ],
  [/OutOfMemory|exit code 137/i, 'the task ran out of memory'],
  [/CannotPull|pull image|manifest/i, 'the image can not be pulled'],
  [/capacity is unavailable|RESOURCE:/i, 'Fargate has no capacity'],
  [/unable to retrieve secret|secretsmanager|asm:|ssm:/i, 'a secret can not be read'],
  [/vCPU|limit on the number|quota/i, "the account's quota is used up"],
  [
    /exit code|Essential container/i,
    'the provisioner ended by itself; a wrong key or an unreachable coder.url does that, its log says which',
  ],
];

function startHint(reason: string): string {
  const hint = START_HINTS.find(([pattern]) => pattern.test(reason))?.[1];
  return hint === undefined ? reason : `${hint} (${reason})`;
}

/** Jobs that coderd's own or another fleet's daemons will run, as a sentence. */
function foreignSentence({ organization, tags, jobs, pool, served }: AssignmentRow): readonly string[] {
  if (pool !== null) return [];
  const when = served === 'by-free' ? 'a free one takes them' : 'they wait for a busy one';
  return [`organization "${organization}", tags ${tagText(tags)}: ${some(jobs, 'job')}; ${when}`];
}

/** Jobs that nobody can run, as a sentence. */
export function unservedSentence(row: UnservedRow, takenAt: string): string {
  const age = (Date.parse(takenAt) - Date.parse(row.oldest)) / 1000;
  const jobs = `organization "${row.organization}", tags ${tagText(row.tags)}: ${some(row.jobs, 'job')}, the oldest for ${ageText(age)}${row.failsAt === null ? '' : `, failed by coderd at ${row.failsAt}`}`;
  if (row.closest === null) return `${jobs}; no pool is configured for this organization`;
  return `${jobs}; pool "${row.closest.pool}" comes closest, ${differenceText(row.closest)}`;
}

function differenceText({ missing, has, surplus }: NonNullable<UnservedRow['closest']>): string {
  const instead = Object.keys(has).length === 0 ? '' : ` (it has ${tagText(has)})`;
  if (Object.keys(missing).length > 0) return `but does not have ${tagText(missing)}${instead}`;
  return `but has ${tagText(surplus)}, and untagged jobs run on untagged daemons only`;
}

/** Tags as `a=1, b=2`. */
export function tagText(tags: Tags): string {
  const entries = Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? '(untagged)' : entries.map(([name, value]) => `${name}=${value}`).join(', ');
}

/** An age for people: `90 s`, `12 min`, `3 h`. */
export function ageText(exactSeconds: number): string {
  const seconds = Math.max(0, Math.round(exactSeconds));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** A length of time, exact to the second: `165 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

/** A number with its noun: `1 job`, `2 jobs`. */
export function some(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function few(items: readonly string[]): string {
  const more = items.length - 3;
  return items.slice(0, 3).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
