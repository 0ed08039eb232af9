/** Words the findings of a plan as sentences: what is wrong, the consequence, and what to do. */
import type { Finding, ForecastReadingName, MalformedOverride, ReadingName } from '../decision/model/plan.ts';
import type { ReadingStatus } from '../decision/model/snapshot.ts';
import { deadBuildsText, unknownBuildText } from './dead-build-text.ts';
import {
  few,
  itOrThem,
  plainLine,
  readingPhrase,
  some,
  tagText,
  timeText,
  transitionsText,
} from './format.ts';
import { failingPresetText, prebuildsWaitingText } from './prebuild-text.ts';
import { overrideText } from './reason-text.ts';
import { lastingSecretText, pskChangedText, secretsUnreadText } from './secret-text.ts';
import { startHint } from './start-hint.ts';

/** One line per cause: findings with the same error share a line, which names all their lists. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  const byCause = Map.groupBy(findings, (finding) => ('error' in finding && finding.error) || finding);
  const lines = [...byCause.values()].map((findingsOfCause) => {
    const [first, ...others] = findingsOfCause;
    if (first === undefined || others.length === 0) return first === undefined ? '' : sentenceOf(first);
    const lists = [
      ...new Set(findingsOfCause.map(({ code }) => code.replace(/-\w+$/, '').replace('-', ' '))),
    ].join(', ');
    const names = findingsOfCause.flatMap((finding) =>
      'organization' in finding ? [`"${finding.organization}"`] : [],
    );
    const where = names.length === 0 ? '' : ` of ${[...new Set(names)].join(', ')}`;
    return `${'error' in first ? first.error : sentenceOf(first)}; could not read: ${lists}${where}${findingsOfCause.map(consequence).find((text) => text !== '') ?? ''}`;
  });
  return lines.map(plainLine);
}

/** One finding as a sentence, in one line. */
export function sentenceOf(finding: Finding): string {
  return plainLine(wordsOf(finding));
}

function wordsOf(finding: Finding): string {
  switch (finding.code) {
    case 'version-unknown':
      return "coderd's version is unknown. Assuming 2.25 or older, which lists offline daemons unasked";
    case 'token-expires':
      return `the token for coderd expires at ${timeText(finding.at)}. After that the autoscaler cannot read coderd. Create a new token and put it into the same secret`;
    case 'license-in-grace':
      return "coderd's license for external provisioner daemons has expired and is in its grace period. After that no daemon can connect, and all jobs wait. Renew the license in coderd (Deployment > Licenses)";
    case 'license-missing':
      return "coderd's license does not include external provisioner daemons, so no new daemon can connect, and jobs wait. Add a Premium license in coderd (Deployment > Licenses)";
    case 'override-malformed':
      return `pool "${finding.pool}": ${malformedText(finding)}. Scale-in is on hold until you ${finding.problem === 'unknown-tag' ? 'remove the tag. To override a pool, use `autoscaler pin` or `pause`' : 'write the override again (`autoscaler pin`, `pause`) or remove it (`unpin`, `resume`)'}`;
    case 'organization-unknown':
      return `organization "${finding.organization}" is unknown: coderd does not list it. Check the name in the configuration and the role of the token's user`;
    case 'daemons-empty-while-leased':
      return `organization "${finding.organization}": coderd lists no daemons, but ${some(finding.tasks, 'task')} of its pools ${finding.tasks === 1 ? 'holds a lease' : 'hold leases'}. Scale-in is on hold. If somebody deleted a provisioner key, give the pool a new one. If none of its tasks ever had a daemon, read the task logs`;
    case 'jobs-empty-while-busy':
      return `organization "${finding.organization}": coderd lists no jobs, but ${some(finding.daemons, 'daemon')} ${finding.daemons === 1 ? 'is' : 'are'} busy. Scale-in is on hold`;
    case 'worker-unknown':
      return workerSentence(finding);
    case 'server-too-old':
      return `coderd ${finding.version} is too old: the autoscaler needs the provisioner jobs API of ${finding.oldest} or newer. It changes nothing until you upgrade coderd`;
    case 'image-newer-than-server':
      return `pool "${finding.pool}": its image ${finding.image} is newer than coderd ${finding.version}, so coderd refuses its daemons. Use the image of coderd's version`;
    case 'daemons-share-task':
      return `pool "${finding.pool}": ${some(finding.tasks, 'task')} may have more than one daemon (${few(finding.daemons)}). coderd's rows do not tell which one runs in the task. Scale-in of the pool is on hold. Stop the daemon that runs outside the task. If nobody knows it, replace the pool's key`;
    case 'clocks-differ':
      return clockSentence(finding);
    case 'starts-failing':
      return `pool "${finding.pool}": ${finding.tasks === 0 ? 'tasks do not start' : `${some(finding.tasks, 'task')} failed to start since the last daemon registered`}: ${startHint(finding.reason)}`;
    case 'placement-failing':
      return `pool "${finding.pool}": ECS has failed to place ${some(finding.tasks, 'task')} since ${timeText(finding.since)}: ${startHint(finding.reason)}. Jobs wait, or go to other pools with these tags`;
    case 'build-died-with-task':
      return deadBuildsText(finding);
    case 'build-of-task-unknown':
      return unknownBuildText(finding);
    case 'daemons-without-task':
      return `pool "${finding.pool}": ${some(finding.daemons.length, 'daemon')} ${finding.daemons.length === 1 ? 'has' : 'have'} no ECS task (already stopped?): ${few(finding.daemons)}. Ignoring ${finding.daemons.length === 1 ? 'it' : 'them'}`;
    case 'jobs-waiting':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: ${some(finding.jobs, 'job')} pending for too long, the oldest since ${timeText(finding.oldest)}${finding.pool === null ? '' : `. ${finding.jobs === 1 ? 'It waits' : 'They wait'} for pool "${finding.pool}"`}`;
    case 'jobs-about-to-fail':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: coderd will fail ${some(finding.jobs, 'job')} from ${timeText(finding.failsAt)} on, after 30 min of waiting. New capacity comes too late`;
    case 'prebuilds-waiting':
      return prebuildsWaitingText(finding);
    case 'prebuilds-failing':
    case 'prebuilds-stopped':
      return failingPresetText(finding);
    case 'workspaces-empty':
      return `organization "${finding.organization}": coderd lists no workspaces, but ${some(finding.jobs, 'workspace build')} ${finding.jobs === 1 ? 'is' : 'are'} in the queue. Each pool keeps its last daemon`;
    case 'transitions-without-pool':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: no pool can serve ${transitionsText([finding])} (retiring pools do not count). coderd makes ${itOrThem(finding)} once it sees a daemon with these tags. Add a pool with these tags, or change the tags of the template`;
    case 'transitions-late':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: ${transitionsText([finding])} ${finding.transitions === 1 ? 'is' : 'are'} overdue for longer than wake.maxDelay. coderd makes ${itOrThem(finding)} once it sees a daemon with these tags`;
    case 'transitions-held':
      return heldSentence(finding);
    case 'transitions-refused':
      return refusedSentence(finding);
    case 'tasks-fewer-than-counted':
      return `pool "${finding.pool}": ECS counts ${some(finding.counted, 'task')} but lists ${finding.seen}. Scale-in is on hold until the numbers agree`;
    case 'service-without-pool':
      return finding.drains
        ? `service "${finding.service}" belongs to pool "${finding.pool}", which somebody removed from the configuration. Its tasks drain, and builds finish. Delete the service when no task is left (next time set retiring: true first)`
        : `service "${finding.service}" has the tag of pool "${finding.pool}", and no pool in this configuration manages it. Either another deployment owns it, or the pool was removed. If it was removed, deploy it again with retiring: true: deleting the service may stop builds`;
    case 'count-changed-by-others':
      return `pool "${finding.pool}": somebody else changed the desired count from ${finding.from} to ${finding.to} (a person, Application Auto Scaling, a second deployment, or another instance of this function). Leave the count to the autoscaler; \`autoscaler pin\` fixes it for a time, \`autoscaler doctor\` looks for scalable targets`;
    case 'count-contested':
      return `pool "${finding.pool}": others changed the desired count ${finding.changes} times in the last hour, at least 3 times within 10 min. Scale-in is on hold and only pending jobs launch tasks, because each correction would launch or stop tasks again. Run \`autoscaler doctor\` and deregister the scalable target that it finds. The autoscaler resumes an hour after the last of these changes`;
    case 'pools-alike':
      return `pools ${finding.pools.map((name) => `"${name}"`).join(', ')} have the same tags in organization "${finding.organization}" (one uses its name, one its UUID). Merge them into one pool`;
    case 'service-missing':
      return `pool "${finding.pool}": no active ECS service in the cluster has the tag coder-autoscaler:pool=${finding.pool}. Deploy the configuration, or remove the pool from it. A deployed service starts with 1 task, with min: 0 too; if nothing needs it, it drains`;
    case 'service-ambiguous':
      return `pool "${finding.pool}": ${finding.services.length} services have its tag (${finding.services.join(', ')}). Keep the tag on one of them`;
    case 'daemon-tags-differ':
      return `pool "${finding.pool}": ${some(finding.daemons.length, 'daemon')} ${finding.daemons.length === 1 ? 'offers' : 'offer'} other tags than the pool's (${few(finding.daemons)}). The provisioner key belongs to another pool, or the token to another user`;
    case 'possible-intruder':
      return intruderSentence(finding);
    case 'tasks-unguarded':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} ${finding.tasks.length === 1 ? 'runs a job' : 'run jobs'} without a lease (${few(finding.tasks)}). Scale-in is on hold while the pool has such tasks. Read the task's log: the guard failed, or the task role lacks ecs:UpdateTaskProtection`;
    case 'tasks-vacant':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} ran for 15 min without a lease or a daemon (${few(finding.tasks)}). Read the task's log`;
    case 'tasks-without-daemon':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} should have a daemon but ${finding.tasks.length === 1 ? 'has' : 'have'} none (${few(finding.tasks)}). Read the task's log`;
    case 'secrets-forbidden':
    case 'secrets-failed':
    case 'secrets-stale':
      return secretsUnreadText(finding);
    case 'psk-changed':
      return pskChangedText(finding);
    case 'tasks-with-old-secret':
      return lastingSecretText(finding);
    case 'tasks-draining-without-daemon':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} (${few(finding.tasks)}) drained for 30 min without a live daemon. The guard no longer reacts, so the task stays and is paid for. Read the task's log. If no build runs there, stop the task in ECS`;
    case 'tasks-draining-for-long':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} (${few(finding.tasks)}) ${finding.tasks.length === 1 ? 'has' : 'have'} drained for 6 h or more. If a build is still running there, wait for it or cancel it in Coder. Otherwise the daemon hangs: read the task's log, then stop the task in ECS`;
    default:
      return unreadSentence(finding);
  }
}

type UnreadFinding = Extract<
  Finding,
  { readonly code: `${ReadingName | ForecastReadingName}-${ReadingStatus}` }
>;

/** A list that is incomplete or unavailable. A finding that has no sentence does not compile here. */
function unreadSentence(finding: UnreadFinding): string {
  const where = finding.organization === undefined ? '' : `organization "${finding.organization}": `;
  const cause = finding.error === undefined ? '' : `: ${finding.error}`;
  return `${where}${readingPhrase(finding.code)}${cause}${consequence(finding)}`;
}

/** A provisioner key lets its holder take jobs, whatever name the daemon has. */
function intruderSentence({
  pool,
  daemons,
}: Extract<Finding, { readonly code: 'possible-intruder' }>): string {
  const names = daemons.map(({ name, key }) => (key === null ? name : `${name} with key "${key}"`));
  const [seen, it] = daemons.length === 1 ? ['has', 'it'] : ['have', 'them'];
  return `pool "${pool}": ${some(daemons.length, 'daemon')} ${seen} the id or the address of one of its tasks, but not the name and the tags of that task's daemon (${few(names)}). The autoscaler ignores ${it}, but coderd gives ${it} jobs and their secrets. Find out who started ${it}. If nobody knows, replace the key and delete the old one in coderd`;
}

/** What follows from a list that is incomplete or unavailable. */
function consequence(finding: Finding): string {
  switch (finding.code) {
    case 'jobs-truncated':
      return '. The oldest pending jobs are missing';
    case 'workspaces-stale':
    case 'templates-stale':
      return `. Using the list of ${finding.takenAt === undefined ? 'an earlier look' : timeText(finding.takenAt)}`;
    case 'workspaces-forbidden':
    case 'workspaces-failed':
    case 'workspaces-truncated':
    case 'templates-forbidden':
    case 'templates-failed':
    case 'templates-truncated':
      return '. Each pool keeps its last daemon. Pools at zero do not start for what the list would show';
    default:
      return '';
  }
}

function workerSentence({
  organization,
  jobs,
  jobIds,
  pools,
}: Extract<Finding, { readonly code: 'worker-unknown' }>): string {
  const rest = jobs > jobIds.length ? ` and ${jobs - jobIds.length} more` : '';
  const held = pools.length === 0 ? '' : `, so ${few(pools)} will not scale in until then`;
  return `organization "${organization}": coderd lists ${some(jobs, 'running job')} (${jobIds.join(', ')}${rest}), but not the daemons that run them. Somebody deleted a provisioner key or restored a backup. Wait until these jobs end, or cancel them${held}`;
}

function heldSentence({
  organization,
  tags,
  pools,
  ...due
}: Extract<Finding, { readonly code: 'transitions-held' }>): string {
  const causes = pools
    .map(({ name, override }) => `pool "${name}" is ${overrideText(override)}`)
    .join(' and ');
  const commands = pools.map(
    ({ name, override: { kind } }) => `\`autoscaler ${kind === 'pause' ? 'resume' : 'unpin'} ${name}\``,
  );
  const waits = due.transitions === 1 ? 'waits' : 'wait';
  return `organization "${organization}", tags ${tagText(tags)}: ${transitionsText([due])} ${waits} because ${causes}. Run ${commands.join(' or ')} to let coderd make ${itOrThem(due)}`;
}

function refusedSentence({
  organization,
  tags,
  workspaces,
  ownersUnknown,
  nextTryAt,
  ...refused
}: Extract<Finding, { readonly code: 'transitions-refused' }>): string {
  const more = refused.transitions - workspaces.length;
  const names = `${workspaces.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const isStart = refused.kind === 'autostart';
  const areUnknown = ownersUnknown === 1 ? '1 owner is' : `${ownersUnknown} owners are`;
  const owners = `coderd starts only workspaces of active owners, and does not tell whether ${areUnknown} suspended or dormant. `;
  const next =
    nextTryAt === null
      ? 'The autoscaler starts no pool for it: none that may start has these tags'
      : `The autoscaler next starts a pool for it at ${timeText(nextTryAt)}`;
  const remedy = isStart ? ', or clear the schedule of the workspace' : '';
  return `organization "${organization}", tags ${tagText(tags)}: coderd refused ${transitionsText([refused])} although it saw a daemon: ${names}. ${isStart && ownersUnknown > 0 ? owners : ''}Look for "failed to transition workspace" in coderd's log (a required parameter may have no value)${remedy}. ${next}`;
}

function malformedText({ tag, seen, problem }: MalformedOverride): string {
  switch (problem) {
    case 'unknown-tag':
      return `its service has the unknown tag ${tag}`;
    case 'no-end':
      return `its service has an override without the tag ${tag}, so its end is unknown`;
    case 'unreadable-end':
      return `the tag ${tag} of its service is ${JSON.stringify(seen)}, not a time such as 2026-11-20T18:00:00Z`;
    case 'unknown-value':
      return `the tag ${tag} of its service is ${JSON.stringify(seen)}, not ${tag.endsWith('pause') ? '"all" or "scale-in"' : 'a number of tasks'}`;
    default:
      return problem satisfies never;
  }
}

const CLOCKS_DIFFER = 'Until the clocks agree, scale-in is on hold and only pending jobs launch tasks';

function clockSentence({
  where,
  organization,
  seconds,
}: Extract<Finding, { readonly code: 'clocks-differ' }>): string {
  const prefix = organization === undefined ? '' : `organization "${organization}": `;
  const event = {
    readings: 'one list was read',
    jobs: 'a job was submitted',
    daemons: 'a daemon was seen',
    tasks: 'a task was started',
  };
  if (where === 'coderd') {
    const apart = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'}`;
    return `coderd's clock is ${apart} AWS's clock. ${CLOCKS_DIFFER}. Check the time service of coderd's host`;
  }
  const clock = where === 'tasks' ? "AWS's clock" : "coderd's clock";
  const apart = where === 'readings' ? 'before another list of the same look' : `ahead of ${clock}`;
  return `${prefix}${event[where]} ${seconds} s ${apart}. ${CLOCKS_DIFFER}`;
}
