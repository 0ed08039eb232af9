/** Words the findings of a plan as sentences: what is wrong, the consequence, and what to do. */
import { groupsBy } from '../decision/model/collections.ts';
import type {
  Finding,
  FindingOf,
  ForecastReadingName,
  MalformedOverride,
  ReadingName,
} from '../decision/model/plan.ts';
import type { ReadingStatus } from '../decision/model/snapshot.ts';
import { deadBuildsText, unknownBuildText } from './dead-build-text.ts';
import { failingJobsText } from './failing-jobs-text.ts';
import {
  ageText,
  few,
  itOrThem,
  listOf,
  plainLine,
  readingPhrase,
  some,
  tagText,
  timeText,
  transitionsText,
} from './format.ts';
import { overrideText } from './reason-text.ts';
import { lastingSecretText, pskChangedText, secretsUnreadText } from './secret-text.ts';
import { startHint } from './start-hints.ts';
import { submittersText } from './submitters-text.ts';
import { throttledText } from './throttled-text.ts';

/** One line per cause: findings with the same error share a line, which names all their lists. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  const byCause = groupsBy(findings, (finding) => ('error' in finding && finding.error) || finding);
  const lines = byCause.map((findingsOfCause) => {
    const [first] = findingsOfCause;
    if (findingsOfCause.length === 1) return sentenceOf(first);
    const lists = [...new Set(findingsOfCause.map(({ code }) => listOf(code)))].join(', ');
    const names = findingsOfCause.flatMap((finding) =>
      'organization' in finding ? [`"${finding.organization}"`] : [],
    );
    const where = names.length === 0 ? '' : ` of ${[...new Set(names)].join(', ')}`;
    const cause = ('error' in first && first.error) || sentenceOf(first);
    return `${cause.replace(/\.$/, '')}; could not read: ${lists}${where}${findingsOfCause.map(consequence).find((text) => text !== '') ?? ''}`;
  });
  return lines.map(plainLine);
}

export function sentenceOf(finding: Finding): string {
  return plainLine(wordsOf(finding));
}

function wordsOf(finding: Finding): string {
  if (isUnread(finding)) return unreadSentence(finding);
  return (WORDS[finding.code] as (finding: Finding) => string)(finding);
}

function isUnread(finding: Finding): finding is UnreadFinding {
  return !Object.hasOwn(WORDS, finding.code);
}

type UnreadFinding = FindingOf<`${ReadingName | ForecastReadingName}-${Exclude<ReadingStatus, 'ok'>}`>;

const CLOCKS_DIFFER = 'Until the clocks agree, scale-in is on hold and only pending jobs launch tasks';

/** The words of all findings except those about lists. A code without words does not compile. */
const WORDS: {
  readonly [Code in Exclude<Finding['code'], UnreadFinding['code']>]: (finding: FindingOf<Code>) => string;
} = {
  'version-unknown': () =>
    "coderd's version is unknown. Assuming 2.25 or older, which lists offline daemons unasked",
  'jobs-list-slow': ({ seconds, jobs }) =>
    `coderd takes ${seconds} s to list ${jobs === 0 ? 'its jobs' : some(jobs, 'open job')}. Looks come only once a minute, and still take more than a tenth of a core of coderd's database. Check the CPU of that database: builds need it too. Cancel jobs that nobody needs. Until then new tasks start up to a minute later`,
  'token-expires': ({ at }) =>
    `the token for coderd expires at ${timeText(at)}. After that the autoscaler cannot read coderd. Create a new token and put it into the same secret`,
  'license-in-grace': () =>
    "coderd's license for external provisioner daemons has expired and is in its grace period. After that no daemon can connect, and all jobs wait. Renew the license in coderd (Deployment > Licenses)",
  'license-missing': () =>
    "coderd's license does not include external provisioner daemons, so no new daemon can connect, and jobs wait. Add a Premium license in coderd (Deployment > Licenses)",
  'override-malformed': (finding) =>
    `pool "${finding.pool}": ${malformedText(finding)}. Scale-in is on hold until you ${finding.problem === 'unknown-tag' ? 'remove the tag. To override a pool, use `autoscaler pin` or `pause`' : 'write the override again (`autoscaler pin`, `pause`) or remove it (`unpin`, `resume`)'}`,
  'organization-unknown': ({ organization }) =>
    `organization "${organization}" is unknown: coderd does not list it. Check the name in the configuration and the role of the token's user`,
  'daemons-empty-while-leased': ({ organization, tasks, cluster, task }) =>
    `organization "${organization}": coderd lists no daemons, but ${some(tasks, 'task')} of its pools ${tasks === 1 ? 'holds a lease' : 'hold leases'}. Scale-in is on hold. Read the log of a task: it says why coderd refuses its daemon. Mend that cause. Only if somebody deleted the provisioner key, give the pool a new one. The next daemon that registers ends the hold: that of a build, or of the task that each key launches once an hour, as far as limits allow. To end it sooner, drain a task; ECS starts another within 15 min: \`aws ecs update-task-protection --cluster ${cluster} --tasks ${task} --protection-enabled --expires-in-minutes 1380\``,
  'jobs-empty-while-busy': ({ organization, daemons }) =>
    `organization "${organization}": coderd lists no jobs, but ${some(daemons, 'daemon')} ${daemons === 1 ? 'is' : 'are'} busy. Scale-in is on hold`,
  'worker-unknown': ({ organization, jobs, jobIds, pools }) => {
    const rest = jobs > jobIds.length ? ` and ${jobs - jobIds.length} more` : '';
    const held = pools.length === 0 ? '' : ` Until then ${few(pools)} will not scale in.`;
    return `organization "${organization}": coderd lists ${some(jobs, 'running job')} (${jobIds.join(', ')}${rest}), but not ${jobs === 1 ? 'the daemon that runs it. Wait until this job ends, or cancel it' : 'the daemons that run them. Wait until these jobs end, or cancel them'}.${held} Somebody deleted a provisioner key or restored a backup`;
  },
  'server-too-old': ({ version, oldest }) =>
    `coderd ${version} is too old: the autoscaler needs the provisioner jobs API of ${oldest} or newer. It changes nothing until you upgrade coderd`,
  'image-newer-than-server': ({ pool, image, version }) =>
    `pool "${pool}": its image ${image} is newer than coderd ${version}, so coderd refuses its daemons. Use the image of coderd's version`,
  'daemons-share-task': ({ pool, tasks, daemons, rows }) => {
    const shown = rows.map(({ id, key }) => (key === null ? id : `${id} with key "${key}"`));
    return `pool "${pool}": ${some(tasks, 'task')} may have more than one daemon (${few(daemons)}; coderd's rows ${few(shown)}). Stop the daemon that runs outside the task. 90 s later its row no longer counts; until then scale-in of the pool is on hold. The rows do not tell which one runs in the task. If nobody knows it, replace the pool's key. \`coder provisioner keys delete\` deletes the rows of a key at once`;
  },
  'heartbeats-old': ({ organization, daemons, unseen, seen, pools }) => {
    const last = seen === null ? 'over an hour ago' : `${timeText(seen.from)} to ${timeText(seen.to)}`;
    return `organization "${organization}": coderd has not seen ${unseen} of ${some(daemons, 'daemon')} with a lease for over 90 s (last seen ${last}). Scale-in of ${few(pools)} is on hold, and floors launch one task an hour at most. Only pending jobs launch more. coderd writes a heartbeat each minute, so these daemons may live. Compare the clocks of coderd's replicas and its database, and search coderd's log for "heartbeat failed". If both are right, check the network between the tasks and coderd`;
  },
  'heartbeats-late': ({ organization, daemons, unseen, times }) => {
    const again =
      times && `heartbeats looked too old from ${timeText(times.since)} to ${timeText(times.until)}. `;
    const now =
      unseen === 0
        ? `At this look coderd has seen ${daemons === 1 ? 'the one daemon' : `all ${daemons} daemons`} with a lease`
        : `coderd has not seen ${unseen} of ${some(daemons, 'daemon')} with a lease for over 90 s`;
    return `organization "${organization}": ${again ?? ''}${now}. coderd writes a heartbeat each minute, so these daemons may live. Compare the clocks of coderd's replicas and its database. For a minute such a daemon counts for floors and stock, but not for waiting jobs`;
  },
  'clocks-differ': ({ where, organization, seconds }) => {
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
  },
  'starts-failing': ({ pool, tasks, reason, notTriedSince }) =>
    `pool "${pool}": ${tasks === 0 ? 'tasks do not start' : `ECS lists ${some(tasks, 'task')} that failed to start since the last daemon registered`}: ${startHint(reason)}${notTriedText(notTriedSince)}`,
  'starts-throttled': throttledText,
  'placement-failing': ({ pool, tasks, since, reason, notTriedSince }) =>
    `pool "${pool}": ECS has failed to place ${tasks === 0 ? 'tasks' : some(tasks, 'task')} since ${timeText(since)}: ${startHint(reason)}${notTriedSince === undefined ? '. Jobs wait, or go to other pools with these tags' : notTriedText(notTriedSince)}`,
  'build-died-with-task': deadBuildsText,
  'build-of-task-unknown': unknownBuildText,
  'daemons-without-task': ({ pool, daemons }) =>
    `pool "${pool}": ${some(daemons.length, 'daemon')} ${daemons.length === 1 ? 'has' : 'have'} no ECS task (already stopped?): ${few(daemons)}. Ignoring ${daemons.length === 1 ? 'it' : 'them'}`,
  'jobs-waiting': ({ organization, tags, jobs, oldest, pool, by }) =>
    [
      `organization "${organization}", tags ${tagText(tags)}: ${some(jobs, 'job')} pending for too long, the oldest since ${timeText(oldest)}`,
      ...(pool === null ? [] : [`${jobs === 1 ? 'It waits' : 'They wait'} for pool "${pool}"`]),
      ...submittersText(by),
    ].join('. '),
  'jobs-about-to-fail': failingJobsText,
  'jobs-never-started': ({ organization, tags, jobs, failed, waitedMs, workspaces, pool }) => {
    const when =
      failed.from === failed.to
        ? `at ${timeText(failed.to)}`
        : `from ${timeText(failed.from)} to ${timeText(failed.to)}`;
    const where = pool === null ? 'No pool has these tags' : `Pool "${pool}" has these tags`;
    const builds = workspaces.length === 0 ? '' : `: ${few(workspaces)}`;
    return `organization "${organization}", tags ${tagText(tags)}: coderd failed ${some(jobs, 'job')} ${when}, because no daemon took ${jobs === 1 ? 'it' : 'them'} in ${ageText(waitedMs / 1000)}. ${where}. Mend the cause, then start ${jobs === 1 ? 'it' : 'them'} again${builds}`;
  },
  'workspaces-empty': ({ organization, jobs }) =>
    `organization "${organization}": coderd lists no workspaces, but ${some(jobs, 'workspace build')} ${jobs === 1 ? 'is' : 'are'} in the queue. Each pool keeps its last daemon`,
  'transitions-without-pool': (finding) =>
    `organization "${finding.organization}", tags ${tagText(finding.tags)}: no pool can serve ${transitionsText([finding])}. Add a pool with these tags, or change the tags of the template. coderd makes ${itOrThem(finding)} once it sees a daemon with these tags. Retiring pools do not count`,
  'transitions-late': (finding) =>
    `organization "${finding.organization}", tags ${tagText(finding.tags)}: ${transitionsText([finding])} ${finding.transitions === 1 ? 'is' : 'are'} overdue for more than 10 minutes. coderd makes ${itOrThem(finding)} once it sees a daemon with these tags`,
  'transitions-held': ({ organization, tags, pools, ...due }) => {
    const causes = pools.map(({ name, override }) => `Pool "${name}" is ${overrideText(override)}`);
    const commands = pools.map(
      ({ name, override: { kind } }) => `\`autoscaler ${kind === 'pause' ? 'resume' : 'unpin'} ${name}\``,
    );
    const waits = due.transitions === 1 ? 'waits' : 'wait';
    return `organization "${organization}", tags ${tagText(tags)}: ${transitionsText([due])} ${waits} for ${pools.map(({ name }) => `"${name}"`).join(', ')} (paused or pinned). Run ${commands.join(' or ')}. ${causes.join('. ')}`;
  },
  'transitions-refused': ({ organization, tags, workspaces, ownersUnknown, nextTryAt, ...refused }) => {
    const more = refused.transitions - workspaces.length;
    const names = `${workspaces.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    const isStart = refused.kind === 'autostart';
    const areUnknown = ownersUnknown === 1 ? '1 owner is' : `${ownersUnknown} owners are`;
    const owners = `. coderd starts only workspaces of active owners, and does not tell whether ${areUnknown} suspended or dormant`;
    const next =
      nextTryAt === null
        ? 'The autoscaler starts no pool for it: none that may start has these tags'
        : `The autoscaler next starts a pool for it at ${timeText(nextTryAt)}`;
    const remedy = isStart ? 'To end it, clear the schedule of the workspace. ' : '';
    return `organization "${organization}", tags ${tagText(tags)}: coderd refused ${transitionsText([refused])} although it saw a daemon. Look for "failed to transition workspace" in coderd's log. A required parameter may have no value${isStart && ownersUnknown > 0 ? owners : ''}. ${remedy}Workspaces: ${names}. ${next}`;
  },
  'tasks-fewer-than-counted': ({ pool, counted, seen }) =>
    `pool "${pool}": ECS counts ${some(counted, 'task')} but lists ${seen}. Scale-in is on hold until the numbers agree`,
  'service-without-pool': ({ drains, service, pool }) =>
    drains
      ? `service "${service}" belongs to pool "${pool}", which somebody removed from the configuration. Its tasks drain, and builds finish. Delete the service when no task is left (next time set retiring: true first)`
      : `service "${service}" has the tag of pool "${pool}", and no pool in this configuration manages it. Either another deployment owns it, or the pool was removed. If it was removed, deploy it again with retiring: true: deleting the service may stop builds`,
  'count-changed-by-others': ({ pool, from, to }) =>
    `pool "${pool}": somebody else changed the desired count from ${from} to ${to}. Leave it to the autoscaler: \`autoscaler pin\` fixes it for a time, \`autoscaler doctor\` looks for scalable targets. It may have been a person, Application Auto Scaling, a second deployment, or another instance of this function`,
  'count-contested': ({ pool, changes }) =>
    `pool "${pool}": others changed the desired count ${changes} times in the last hour. Scale-in is on hold. Find out who: \`aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventName,AttributeValue=UpdateService\`. If it is Application Auto Scaling, \`autoscaler doctor\` names the target to deregister. Only pending jobs launch tasks, because each correction would launch or stop tasks again. The autoscaler resumes an hour after the last time when others made 3 changes within 10 min`,
  'pools-alike': ({ pools, organization }) =>
    `pools ${pools.map((name) => `"${name}"`).join(', ')} have the same tags in organization "${organization}" (one uses its name, one its UUID). Merge them into one pool`,
  'service-missing': ({ pool }) =>
    `pool "${pool}": no active ECS service in the cluster has the tag coder-autoscaler:pool=${pool}. Deploy the configuration, or remove the pool from it. A deployed service starts with 1 task, with min: 0 too; if nothing needs it, it drains`,
  'service-ambiguous': ({ pool, services }) =>
    `pool "${pool}": ${services.length} services have its tag (${services.join(', ')}). Keep the tag on one of them`,
  'daemon-tags-differ': ({ pool, daemons }) =>
    `pool "${pool}": coderd shows ${some(daemons.length, 'daemon')} with other tags than the pool's (${few(daemons)}). The provisioner key belongs to another pool, the token to another user, or a daemon of the same name has taken the row`,
  'possible-intruder': ({ pool, daemons }) => {
    const names = daemons.map(({ name, key }) => (key === null ? name : `${name} with key "${key}"`));
    const [seen, it] = daemons.length === 1 ? ['has', 'it'] : ['have', 'them'];
    return `pool "${pool}": ${some(daemons.length, 'unknown daemon')} ${seen} the id or the address of one of its tasks (${few(names)}). Find out who started ${it}. The name or the tags are not those of that task's daemon. The autoscaler ignores ${it}, but coderd gives ${it} jobs and their secrets. If nobody knows ${it}, replace the key and delete the old one in coderd`;
  },
  'tasks-unguarded': ({ pool, tasks }) =>
    `pool "${pool}": ${some(tasks.length, 'task')} ${tasks.length === 1 ? 'has a job' : 'have jobs'} and no lease (${few(tasks)}). Scale-in is on hold while the pool has such tasks. If a daemon has just died, its guard ends the task within 4 min. Otherwise read the task's log: the guard failed, or the task role lacks ecs:UpdateTaskProtection`,
  'tasks-lease-late': ({ pool, tasks }) =>
    `pool "${pool}": ${some(tasks.length, 'task')} set no lease within 5 min after the start, or for an hour (${few(tasks)}). Read the task's log. Either the guard's processes have died, ECS's agent does not answer, the task role lacks ecs:UpdateTaskProtection, or ECS refuses it because of a deployment. 48 h after the last lease ECS may stop the task, with its build`,
  'tasks-vacant': ({ pool, tasks }) =>
    `pool "${pool}": ${some(tasks.length, 'task')} ran for 15 min without a lease or a daemon (${few(tasks)}). Read the task's log`,
  'tasks-without-daemon': ({ pool, tasks }) =>
    `pool "${pool}": ${some(tasks.length, 'task')} should have a daemon but ${tasks.length === 1 ? 'has' : 'have'} none (${few(tasks)}). Read the task's log, and run \`autoscaler doctor\`: somebody may have deleted its provisioner key`,
  'secrets-forbidden': secretsUnreadText,
  'secrets-failed': secretsUnreadText,
  'secrets-stale': secretsUnreadText,
  'psk-changed': pskChangedText,
  'tasks-with-old-secret': lastingSecretText,
  'tasks-draining-without-daemon': ({ pool, tasks }) =>
    `pool "${pool}": ${some(tasks.length, 'task')} (${few(tasks)}) drained for 30 min without a live daemon. The guard no longer reacts, so the task stays and is paid for. Read the task's log. If no build runs there, stop the task in ECS`,
  'tasks-draining-for-long': ({ pool, tasks }) =>
    `pool "${pool}": ${some(tasks.length, 'task')} (${few(tasks)}) ${tasks.length === 1 ? 'has' : 'have'} drained for 6 h or more. If a build is still running there, wait for it or cancel it in Coder. Otherwise the daemon hangs: read the task's log, then stop the task in ECS`,
  'tasks-busy-for-long': ({ pool, tasks }) =>
    `pool "${pool}": ${some(tasks.length, 'task')} (${few(tasks)}) ${tasks.length === 1 ? 'has' : 'have'} run one build for a day or more. Terraform probably hangs, and the task stays until the build ends. Read the build's log in Coder, and cancel the build`,
};

function notTriedText(since: string | undefined): string {
  return since === undefined
    ? ''
    : `. Not tried since ${timeText(since)}, as no job needs a task. The next start tells whether the cause is mended`;
}

function unreadSentence(finding: UnreadFinding): string {
  const where = finding.organization === undefined ? '' : `organization "${finding.organization}": `;
  const cause = finding.error === undefined ? '' : `: ${finding.error}`;
  return `${where}${readingPhrase(finding.code)}${cause}${consequence(finding)}`;
}

/** What follows from a list that is incomplete or unavailable. */
function consequence(finding: Finding): string {
  switch (finding.code) {
    case 'jobs-truncated':
      return finding.leftOut === undefined ? '. The oldest pending jobs may be missing' : '';
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
