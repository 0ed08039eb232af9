/** Sentences for findings: what was seen, what it means, and what to do. */
import type { Finding, MalformedOverride } from '../decision/model/plan.ts';
import { few, itOrThem, readingPhrase, some, tagText, transitionsText } from './format.ts';
import { overrideText } from './reason-text.ts';
import { startHint } from './start-hint.ts';

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
      return "coderd's version is unknown. Assuming 2.25 or older, which lists offline daemons unasked";
    case 'token-expires':
      return `the token for coderd expires at ${finding.at}, and nothing can be seen after that; make a new one and put it into the same secret`;
    case 'override-malformed':
      return `pool "${finding.pool}": ${malformedText(finding)}; the pool is not scaled in until that is written again (\`autoscaler pin\`, \`pause\`) or taken away (\`unpin\`, \`resume\`)`;
    case 'organization-unknown':
      return `organization "${finding.organization}" is not in the snapshot`;
    case 'daemons-empty-while-leased':
      return `organization "${finding.organization}": coderd lists no daemon although ${some(finding.tasks, 'task')} of its pools hold leases; holding. If a key was deleted, give the pool a new one; if none of its tasks ever had a daemon, their logs say why`;
    case 'jobs-empty-while-busy':
      return `organization "${finding.organization}": coderd lists no job although ${some(finding.daemons, 'daemon')} ${finding.daemons === 1 ? 'is' : 'are'} busy; holding`;
    case 'worker-unknown':
      return workerSentence(finding);
    case 'server-too-old':
      return `coderd ${finding.version} is too old: the provisioner jobs API of ${finding.oldest} or newer is needed, so nothing is done`;
    case 'image-newer-than-server':
      return `pool "${finding.pool}": its image ${finding.image} is newer than coderd ${finding.version}, which refuses its daemons; use the image of coderd's version`;
    case 'daemons-share-name':
      return `organization "${finding.organization}": several daemons are called ${few(finding.names)}; their jobs can't be told apart, so its pools are not scaled in`;
    case 'clocks-differ':
      return clockSentence(finding);
    case 'starts-failing':
      return `pool "${finding.pool}": ${finding.tasks === 0 ? 'tasks do not start' : `${some(finding.tasks, 'task')} failed to start since a daemon last registered`}: ${startHint(finding.reason)}`;
    case 'placement-failing':
      return `pool "${finding.pool}": ECS has failed to place ${some(finding.tasks, 'task')} since ${finding.since}: ${startHint(finding.reason)}. No job is counted on ${finding.tasks === 1 ? 'it' : 'them'}; other pools with the tags get the jobs`;
    case 'daemons-without-task':
      return `pool "${finding.pool}": ${some(finding.daemons.length, 'daemon')} that no task explains (${few(finding.daemons)}); no capacity is counted on them`;
    case 'jobs-waiting':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: ${some(finding.jobs, 'job')} pending for long, the oldest since ${finding.oldest}${finding.pool === null ? '' : `; pool "${finding.pool}" is to run them`}`;
    case 'jobs-about-to-fail':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: coderd will fail ${some(finding.jobs, 'job')} after 30 min of waiting, from ${finding.failsAt} on, before capacity can be there`;
    case 'workspaces-empty':
      return `organization "${finding.organization}": coderd lists no workspace although ${some(finding.jobs, 'build')} of workspaces ${finding.jobs === 1 ? 'is' : 'are'} in the queue; its pools keep their last daemon`;
    case 'transitions-without-pool':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: ${transitionsText([finding])}, and no pool that stays has these tags: coderd will not do ${itOrThem(finding)} without a daemon that has them; add a pool with these tags, or change those of the template`;
    case 'transitions-late':
      return `organization "${finding.organization}", tags ${tagText(finding.tags)}: ${transitionsText([finding])}, overdue for longer than wake.maxDelay; coderd does ${itOrThem(finding)} once it sees a daemon with these tags`;
    case 'transitions-held':
      return heldSentence(finding);
    case 'transitions-refused':
      return refusedSentence(finding);
    case 'tasks-fewer-than-counted':
      return `pool "${finding.pool}": ECS counts ${finding.counted} tasks and lists ${finding.seen}; not scaled in until they agree`;
    case 'service-without-pool':
      return finding.drains
        ? `service "${finding.service}" belongs to pool "${finding.pool}", which somebody removed from the configuration. Its tasks drain, and builds finish. Delete the service when no task is left (next time set retiring: true first)`
        : `service "${finding.service}" has the tag of pool "${finding.pool}", and no pool in this configuration manages it. Either another deployment owns it, or the pool was removed. If it was removed, deploy it again with retiring: true: deleting the service may stop builds`;
    case 'count-changed-by-others':
      return `pool "${finding.pool}": somebody else changed the desired count from ${finding.from} to ${finding.to} (a person, Application Auto Scaling, a second deployment, or another instance of this function). Leave the count to the autoscaler; \`autoscaler pin\` fixes it for a time, \`autoscaler doctor\` looks for scalable targets`;
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
    case 'tasks-draining-without-daemon':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} (${few(finding.tasks)}) drained for 30 min without a live daemon. The guard no longer reacts, so the task stays and is paid for. Read the task's log. If no build runs there, stop the task in ECS`;
    case 'tasks-draining-for-long':
      return `pool "${finding.pool}": ${some(finding.tasks.length, 'task')} (${few(finding.tasks)}) ${finding.tasks.length === 1 ? 'has' : 'have'} drained for 6 h or more. If a build is still running there, wait for it or cancel it in Coder. Otherwise the daemon hangs: read the task's log, then stop the task in ECS`;
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
  const since = pools
    .map(({ name, override }) => `pool "${name}" is ${overrideText(override)}`)
    .join(' and ');
  const commands = pools.map(
    ({ name, override: { kind } }) => `\`autoscaler ${kind === 'pause' ? 'resume' : 'unpin'} ${name}\``,
  );
  const waits = due.transitions === 1 ? 'waits' : 'wait';
  return `organization "${organization}", tags ${tagText(tags)}: ${transitionsText([due])} ${waits}, since ${since}; ${commands.join(' or ')} lets coderd do ${itOrThem(due)}`;
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
  const [isStart, one] = [refused.kind === 'autostart', ownersUnknown === 1];
  const owners = `it starts workspaces of active owners only, and does not tell whether ${some(ownersUnknown, 'owner')} ${one ? 'is' : 'are'} suspended or dormant; `;
  const remedy = isStart ? ', or clear the schedule of the workspace' : '';
  return `organization "${organization}", tags ${tagText(tags)}: coderd refused ${transitionsText([refused])} although it saw a daemon: ${names}; ${isStart && ownersUnknown > 0 ? owners : ''}look for "failed to transition workspace" in coderd's log (a required parameter may have no value)${remedy}; a pool is next woken for it at ${nextTryAt}`;
}

function malformedText({ tag, seen, problem }: MalformedOverride): string {
  switch (problem) {
    case 'unknown-tag':
      return `its service has a tag ${tag} that means nothing here; write overrides with autoscaler pause or pin, and remove the tag`;
    case 'no-end':
      return `its service has an override without the tag ${tag}, so that nobody knows until when it holds`;
    case 'unreadable-end':
      return `the tag ${tag} of its service is ${JSON.stringify(seen)}, and not a time such as 2026-11-20T18:00:00Z`;
    case 'unknown-value':
      return `the tag ${tag} of its service is ${JSON.stringify(seen)}, and not ${tag.endsWith('pause') ? '"all" or "scale-in"' : 'a number of tasks'}`;
    default:
      return problem satisfies never;
  }
}

const CLOCKS_DIFFER = 'Scale-in is on hold, and only pending jobs launch tasks, until the clocks agree';

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
  if (where === 'coderd') {
    const apart = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'}`;
    return `coderd's clock is ${apart} AWS's clock. ${CLOCKS_DIFFER}; check the time service of coderd's host`;
  }
  const clock = where === 'tasks' ? "AWS's clock" : "coderd's clock";
  const apart = where === 'readings' ? 'before another one of the same look' : `ahead of ${clock}`;
  return `${place}${what[where]} ${seconds} s ${apart}. ${CLOCKS_DIFFER}`;
}
