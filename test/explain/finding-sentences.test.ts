/** The sentence of each finding, whole: what is wrong, what follows, and what to do. */
import { expect, it } from 'vitest';
import type { TaskArn } from '../../lambda/decision/model/brands.ts';
import type { DeadBuild, DeathCause, Finding, FindingOf, Limit } from '../../lambda/decision/model/plan.ts';
import { checkText } from '../../lambda/explain/dead-build-text.ts';
import { findingLines, sentenceOf } from '../../lambda/explain/finding-text.ts';
import { daemonId, jobId, poolName } from '../support/parts.ts';

const AT = '2026-11-20T09:00:00.000Z';
const LATER = '2026-11-20T10:00:00.000Z';
const pool = poolName('cpu');
const organization = 'default';
const IN = { organization, tags: {} };
const error = 'no answer';
const arnOf = (index: number) => `coder/task-${index}` as TaskArn;
const ONE = { pool, tasks: [arnOf(0)] };
const FIVE = { pool, tasks: [0, 1, 2, 3, 4].map(arnOf) };
const START = { kind: 'autostart', transitions: 1, at: AT } as const;
const STOPS = { kind: 'autostop', transitions: 5, at: AT } as const;
const DORMANT = { kind: 'dormancy', transitions: 1, at: AT } as const;
const PIN = { kind: 'pin', count: 2, until: LATER, by: 'anna', why: 'load test' } as const;
const PAUSE = { ...PIN, kind: 'pause' } as const;
const BY = {
  accounts: [
    { name: 'ada', jobs: 4 },
    { name: 'ben', jobs: 1 },
  ],
  templates: [
    { name: 'linux', jobs: 3 },
    { name: 'gpu', jobs: 2 },
  ],
};
const BUILD: DeadBuild = {
  ...{ job: jobId('job-1'), workspace: 'dev', workspaceId: 'w-1', owner: 'alice', template: 'linux' },
  ...{ startedAt: AT, stoppedAt: LATER, task: 'task-1', cause: 'spot', reason: 'Spot', transition: 'start' },
};
const FAILING = {
  ...{ ...IN, jobs: 18, of: 30, failsAt: LATER, pool, tasks: 6, assumedMs: null },
  limits: ['capped-at-max'] as readonly Limit[],
};
const MALFORMED = { pool, tag: 'coder-autoscaler:pin', seen: 'two' };
const SECRET = {
  pool,
  secret: 'coder/keys',
  kind: 'key',
  changedAt: '2026-11-20T08:00:00.000Z',
  previousAt: '2026-11-12T08:00:00.000Z',
} as const;
const REFUSED = { ...IN, ...START, workspaces: ['ada/dev'], ownersUnknown: 0, nextTryAt: LATER };
const THROTTLED = { pool, since: AT, waitedMs: 300_000, cluster: 'coder', service: 'Stack-cpu' };

type Example<Code extends Finding['code']> = readonly [Omit<FindingOf<Code>, 'code'>, sentence: string];

type ListCode = Extract<Finding['code'], `${string}-${'truncated' | 'forbidden' | 'failed' | 'stale'}`>;

/** A code without an example does not compile. */
const FINDINGS: { readonly [Code in Exclude<Finding['code'], ListCode>]: readonly Example<Code>[] } = {
  'version-unknown': [
    [{}, "coderd's version is unknown. Assuming 2.25 or older, which lists offline daemons unasked"],
  ],
  'jobs-list-slow': [
    [
      { seconds: 6.1, jobs: 0 },
      "coderd takes 6.1 s to list its jobs. Looks come only once a minute, and still take more than a tenth of a core of coderd's database. Check the CPU of that database: builds need it too. Cancel jobs that nobody needs. Until then new tasks start up to a minute later",
    ],
    [
      { seconds: 6.1, jobs: 1 },
      "coderd takes 6.1 s to list 1 open job. Looks come only once a minute, and still take more than a tenth of a core of coderd's database. Check the CPU of that database: builds need it too. Cancel jobs that nobody needs. Until then new tasks start up to a minute later",
    ],
  ],
  'token-expires': [
    [
      { at: AT },
      'the token for coderd expires at 20 November 2026 09:00:00 UTC. After that the autoscaler cannot read coderd. Create a new token and put it into the same secret',
    ],
  ],
  'license-in-grace': [
    [
      {},
      "coderd's license for external provisioner daemons has expired and is in its grace period. After that no daemon can connect, and all jobs wait. Renew the license in coderd (Deployment > Licenses)",
    ],
  ],
  'license-missing': [
    [
      {},
      "coderd's license does not include external provisioner daemons, so no new daemon can connect, and jobs wait. Add a Premium license in coderd (Deployment > Licenses)",
    ],
  ],
  'server-too-old': [
    [
      { version: 'v2.19.3', oldest: '2.20' },
      'coderd v2.19.3 is too old: the autoscaler needs the provisioner jobs API of 2.20 or newer. It changes nothing until you upgrade coderd',
    ],
  ],
  'clocks-differ': [
    [
      { where: 'jobs', organization, seconds: 20 },
      'organization "default": a job was submitted 20 s ahead of coderd\'s clock. Until the clocks agree, scale-in is on hold and only pending jobs launch tasks',
    ],
    [
      { where: 'daemons', organization, seconds: 20 },
      'organization "default": a daemon was seen 20 s ahead of coderd\'s clock. Until the clocks agree, scale-in is on hold and only pending jobs launch tasks',
    ],
    [
      { where: 'tasks', seconds: 20 },
      "a task was started 20 s ahead of AWS's clock. Until the clocks agree, scale-in is on hold and only pending jobs launch tasks",
    ],
    [
      { where: 'readings', organization, seconds: 20 },
      'organization "default": one list was read 20 s before another list of the same look. Until the clocks agree, scale-in is on hold and only pending jobs launch tasks',
    ],
    [
      { where: 'coderd', seconds: 20 },
      "coderd's clock is 20 s ahead of AWS's clock. Until the clocks agree, scale-in is on hold and only pending jobs launch tasks. Check the time service of coderd's host",
    ],
    [
      { where: 'coderd', seconds: -20 },
      "coderd's clock is 20 s behind AWS's clock. Until the clocks agree, scale-in is on hold and only pending jobs launch tasks. Check the time service of coderd's host",
    ],
  ],
  'service-without-pool': [
    [
      { pool: 'old', service: 'Stack-old', drains: true },
      'service "Stack-old" belongs to pool "old", which somebody removed from the configuration. Its tasks drain, and builds finish. Delete the service when no task is left (next time set retiring: true first)',
    ],
    [
      { pool: 'old', service: 'Stack-old', drains: false },
      'service "Stack-old" has the tag of pool "old", and no pool in this configuration manages it. Either another deployment owns it, or the pool was removed. If it was removed, deploy it again with retiring: true: deleting the service may stop builds',
    ],
  ],
  'organization-unknown': [
    [
      { organization },
      'organization "default" is unknown: coderd does not list it. Check the name in the configuration and the role of the token\'s user',
    ],
  ],
  'daemons-empty-while-leased': [
    [
      { organization, tasks: 1, cluster: 'coder', task: arnOf(0) },
      'organization "default": coderd lists no daemons, but 1 task of its pools holds a lease. Scale-in is on hold. Read the log of a task: it says why coderd refuses its daemon. Mend that cause. Only if somebody deleted the provisioner key, give the pool a new one. The next daemon that registers ends the hold: that of a build, or of the task that each key launches once an hour, as far as limits allow. To end it sooner, drain a task; ECS starts another within 15 min: `aws ecs update-task-protection --cluster coder --tasks coder/task-0 --protection-enabled --expires-in-minutes 1380`',
    ],
    [
      { organization, tasks: 2, cluster: 'coder', task: arnOf(0) },
      'organization "default": coderd lists no daemons, but 2 tasks of its pools hold leases. Scale-in is on hold. Read the log of a task: it says why coderd refuses its daemon. Mend that cause. Only if somebody deleted the provisioner key, give the pool a new one. The next daemon that registers ends the hold: that of a build, or of the task that each key launches once an hour, as far as limits allow. To end it sooner, drain a task; ECS starts another within 15 min: `aws ecs update-task-protection --cluster coder --tasks coder/task-0 --protection-enabled --expires-in-minutes 1380`',
    ],
  ],
  'jobs-empty-while-busy': [
    [
      { organization, daemons: 1 },
      'organization "default": coderd lists no jobs, but 1 daemon is busy. Scale-in is on hold',
    ],
    [
      { organization, daemons: 2 },
      'organization "default": coderd lists no jobs, but 2 daemons are busy. Scale-in is on hold',
    ],
  ],
  'worker-unknown': [
    [
      { organization, jobs: 1, jobIds: [jobId('job-1')], pools: [] },
      'organization "default": coderd lists 1 running job (job-1), but not the daemon that runs it. Wait until this job ends, or cancel it. Somebody deleted a provisioner key or restored a backup',
    ],
    [
      { organization, jobs: 3, jobIds: [jobId('job-1'), jobId('job-2')], pools: [pool] },
      'organization "default": coderd lists 3 running jobs (job-1, job-2 and 1 more), but not the daemons that run them. Wait until these jobs end, or cancel them. Until then cpu will not scale in. Somebody deleted a provisioner key or restored a backup',
    ],
  ],
  'heartbeats-old': [
    [
      { organization, daemons: 3, unseen: 2, pools: [pool], seen: null },
      'organization "default": coderd has not seen 2 of 3 daemons with a lease for over 90 s (last seen over an hour ago). Scale-in of cpu is on hold, and floors launch one task an hour at most. Only pending jobs launch more. coderd writes a heartbeat each minute, so these daemons may live. Compare the clocks of coderd\'s replicas and its database, and search coderd\'s log for "heartbeat failed". If both are right, check the network between the tasks and coderd',
    ],
    [
      { organization, daemons: 1, unseen: 1, pools: [pool], seen: { from: AT, to: LATER } },
      'organization "default": coderd has not seen 1 of 1 daemon with a lease for over 90 s (last seen 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC). Scale-in of cpu is on hold, and floors launch one task an hour at most. Only pending jobs launch more. coderd writes a heartbeat each minute, so these daemons may live. Compare the clocks of coderd\'s replicas and its database, and search coderd\'s log for "heartbeat failed". If both are right, check the network between the tasks and coderd',
    ],
  ],
  'heartbeats-late': [
    [
      { organization, daemons: 3, unseen: 2, times: null },
      'organization "default": coderd has not seen 2 of 3 daemons with a lease for over 90 s. coderd writes a heartbeat each minute, so these daemons may live. Compare the clocks of coderd\'s replicas and its database. For a minute such a daemon counts for floors and stock, but not for waiting jobs',
    ],
    [
      { organization, daemons: 1, unseen: 0, times: { since: AT, until: LATER } },
      'organization "default": heartbeats looked too old from 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC. At this look coderd has seen the one daemon with a lease. coderd writes a heartbeat each minute, so these daemons may live. Compare the clocks of coderd\'s replicas and its database. For a minute such a daemon counts for floors and stock, but not for waiting jobs',
    ],
  ],
  'pools-alike': [
    [
      { organization, pools: [pool, poolName('gpu')] },
      'pools "cpu", "gpu" have the same tags in organization "default" (one uses its name, one its UUID). Merge them into one pool',
    ],
  ],
  'workspaces-empty': [
    [
      { organization, jobs: 1 },
      'organization "default": coderd lists no workspaces, but 1 workspace build is in the queue. Each pool keeps its last daemon',
    ],
    [
      { organization, jobs: 2 },
      'organization "default": coderd lists no workspaces, but 2 workspace builds are in the queue. Each pool keeps its last daemon',
    ],
  ],
  'transitions-without-pool': [
    [
      { ...IN, ...START },
      'organization "default", tags (untagged): no pool can serve 1 autostart at 20 November 2026 09:00:00 UTC. Add a pool with these tags, or change the tags of the template. coderd makes it once it sees a daemon with these tags. Retiring pools do not count',
    ],
    [
      { ...IN, ...STOPS },
      'organization "default", tags (untagged): no pool can serve 5 autostops from 20 November 2026 09:00:00 UTC on. Add a pool with these tags, or change the tags of the template. coderd makes them once it sees a daemon with these tags. Retiring pools do not count',
    ],
    [
      { ...IN, ...DORMANT },
      'organization "default", tags (untagged): no pool can serve 1 workspace to become dormant at 20 November 2026 09:00:00 UTC. Add a pool with these tags, or change the tags of the template. coderd makes it once it sees a daemon with these tags. Retiring pools do not count',
    ],
    [
      { ...IN, ...DORMANT, transitions: 2 },
      'organization "default", tags (untagged): no pool can serve 2 workspaces to become dormant from 20 November 2026 09:00:00 UTC on. Add a pool with these tags, or change the tags of the template. coderd makes them once it sees a daemon with these tags. Retiring pools do not count',
    ],
    [
      { ...IN, ...DORMANT, kind: 'deletion' },
      'organization "default", tags (untagged): no pool can serve 1 dormant workspace to be deleted at 20 November 2026 09:00:00 UTC. Add a pool with these tags, or change the tags of the template. coderd makes it once it sees a daemon with these tags. Retiring pools do not count',
    ],
    [
      { ...IN, ...STOPS, kind: 'deletion' },
      'organization "default", tags (untagged): no pool can serve 5 dormant workspaces to be deleted from 20 November 2026 09:00:00 UTC on. Add a pool with these tags, or change the tags of the template. coderd makes them once it sees a daemon with these tags. Retiring pools do not count',
    ],
  ],
  'transitions-late': [
    [
      { ...IN, ...DORMANT, kind: 'autostop' },
      'organization "default", tags (untagged): 1 autostop at 20 November 2026 09:00:00 UTC is overdue for more than 10 minutes. coderd makes it once it sees a daemon with these tags',
    ],
    [
      { ...IN, ...START, transitions: 2 },
      'organization "default", tags (untagged): 2 autostarts from 20 November 2026 09:00:00 UTC on are overdue for more than 10 minutes. coderd makes them once it sees a daemon with these tags',
    ],
  ],
  'transitions-refused': [
    [
      REFUSED,
      'organization "default", tags (untagged): coderd refused 1 autostart at 20 November 2026 09:00:00 UTC although it saw a daemon. Look for "failed to transition workspace" in coderd\'s log. A required parameter may have no value. To end it, clear the schedule of the workspace. Workspaces: ada/dev. The autoscaler next starts a pool for it at 20 November 2026 10:00:00 UTC',
    ],
    [
      { ...REFUSED, transitions: 3, workspaces: ['ada/dev', 'ben/dev'], ownersUnknown: 2, nextTryAt: null },
      'organization "default", tags (untagged): coderd refused 3 autostarts from 20 November 2026 09:00:00 UTC on although it saw a daemon. Look for "failed to transition workspace" in coderd\'s log. A required parameter may have no value. coderd starts only workspaces of active owners, and does not tell whether 2 owners are suspended or dormant. To end it, clear the schedule of the workspace. Workspaces: ada/dev, ben/dev and 1 more. The autoscaler starts no pool for it: none that may start has these tags',
    ],
    [
      { ...REFUSED, ownersUnknown: 1 },
      'organization "default", tags (untagged): coderd refused 1 autostart at 20 November 2026 09:00:00 UTC although it saw a daemon. Look for "failed to transition workspace" in coderd\'s log. A required parameter may have no value. coderd starts only workspaces of active owners, and does not tell whether 1 owner is suspended or dormant. To end it, clear the schedule of the workspace. Workspaces: ada/dev. The autoscaler next starts a pool for it at 20 November 2026 10:00:00 UTC',
    ],
    [
      { ...REFUSED, kind: 'autostop', ownersUnknown: 1 },
      'organization "default", tags (untagged): coderd refused 1 autostop at 20 November 2026 09:00:00 UTC although it saw a daemon. Look for "failed to transition workspace" in coderd\'s log. A required parameter may have no value. Workspaces: ada/dev. The autoscaler next starts a pool for it at 20 November 2026 10:00:00 UTC',
    ],
  ],
  'transitions-held': [
    [
      { ...IN, ...START, pools: [{ name: pool, override: PIN }] },
      'organization "default", tags (untagged): 1 autostart at 20 November 2026 09:00:00 UTC waits for "cpu" (paused or pinned). Run `autoscaler unpin cpu`. Pool "cpu" is pinned at 2 tasks until 20 November 2026 10:00:00 UTC by anna (load test)',
    ],
    [
      {
        ...{ ...IN, ...STOPS },
        pools: [
          { name: pool, override: PAUSE },
          { name: poolName('gpu'), override: { ...PIN, count: 1 } },
        ],
      },
      'organization "default", tags (untagged): 5 autostops from 20 November 2026 09:00:00 UTC on wait for "cpu", "gpu" (paused or pinned). Run `autoscaler resume cpu` or `autoscaler unpin gpu`. Pool "cpu" is paused until 20 November 2026 10:00:00 UTC by anna (load test). Pool "gpu" is pinned at 1 task until 20 November 2026 10:00:00 UTC by anna (load test)',
    ],
  ],
  'jobs-waiting': [
    [
      { ...IN, jobs: 1, oldest: AT, pool },
      'organization "default", tags (untagged): 1 job pending for too long, the oldest since 20 November 2026 09:00:00 UTC. It waits for pool "cpu"',
    ],
    [
      { ...IN, tags: { b: '2', a: '1' }, jobs: 2, oldest: AT, pool: null },
      'organization "default", tags a=1, b=2: 2 jobs pending for too long, the oldest since 20 November 2026 09:00:00 UTC',
    ],
    [
      { ...IN, jobs: 5, oldest: AT, pool, by: { ...BY, filledBy: null } },
      'organization "default", tags (untagged): 5 jobs pending for too long, the oldest since 20 November 2026 09:00:00 UTC. They wait for pool "cpu". The pool is at its maximum. The jobs are from ada (4), ben (1); templates: linux (3), gpu (2)',
    ],
    [
      { ...IN, jobs: 5, oldest: AT, pool, by: { ...BY, filledBy: 'ada' } },
      'organization "default", tags (untagged): 5 jobs pending for too long, the oldest since 20 November 2026 09:00:00 UTC. They wait for pool "cpu". The pool is at its maximum. The jobs are from ada (4), ben (1); templates: linux (3), gpu (2). Cancel the jobs of ada that nobody needs, before you raise a limit',
    ],
  ],
  'jobs-about-to-fail': [
    [
      FAILING,
      'organization "default", tags (untagged): coderd will fail about 18 of 30 pending jobs from 20 November 2026 10:00:00 UTC on. `max: 6` of pool "cpu" would serve all, if deployed within 5 min. coderd gives pending jobs 30 min',
    ],
    [
      { ...FAILING, jobs: 30, assumedMs: 420_000 },
      'organization "default", tags (untagged): coderd will fail 30 pending jobs from 20 November 2026 10:00:00 UTC on. `max: 6` of pool "cpu" would serve all, if deployed within 5 min. coderd gives pending jobs 30 min',
    ],
    [
      { ...FAILING, jobs: 1, of: 1, pool: null, limits: [] },
      'organization "default", tags (untagged): coderd will fail 1 pending job from 20 November 2026 10:00:00 UTC on. coderd gives pending jobs 30 min',
    ],
    [
      { ...FAILING, jobs: 123, of: 500, tasks: null, assumedMs: 420_000, by: { ...BY, filledBy: 'ada' } },
      'organization "default", tags (untagged): coderd will fail about 120 of 500 pending jobs from 20 November 2026 10:00:00 UTC on, assuming builds of 7 min. Cancel the jobs of ada that nobody needs, before you raise a limit. More tasks of pool "cpu" would probably come too late to serve all. coderd gives pending jobs 30 min. Too few of these builds have ended to tell how long they take',
    ],
    [
      { ...FAILING, jobs: 98, of: 99, tasks: null, limits: ['pinned'] },
      'organization "default", tags (untagged): coderd will fail about 98 of 99 pending jobs from 20 November 2026 10:00:00 UTC on, if pool "cpu" stays limited by a pin. coderd gives pending jobs 30 min',
    ],
    [
      { ...FAILING, jobs: 996, of: 997, limits: ['capped-at-max-tasks', 'capped-at-dollars-per-hour'] },
      'organization "default", tags (untagged): coderd will fail about 996 of 997 pending jobs from 20 November 2026 10:00:00 UTC on. Pool "cpu" needs 6 tasks to serve all, limited by limits.maxTasks and limits.dollarsPerHour. coderd gives pending jobs 30 min',
    ],
    [
      { ...FAILING, tasks: 1, limits: ['capped-at-max-tasks'] },
      'organization "default", tags (untagged): coderd will fail about 18 of 30 pending jobs from 20 November 2026 10:00:00 UTC on. Pool "cpu" needs 1 task to serve all, limited by limits.maxTasks. coderd gives pending jobs 30 min',
    ],
    [
      { ...FAILING, limits: ['capped-at-max', 'paused', 'no-service'] },
      'organization "default", tags (untagged): coderd will fail about 18 of 30 pending jobs from 20 November 2026 10:00:00 UTC on, if pool "cpu" stays limited by a pause and its ECS service (see that finding). coderd gives pending jobs 30 min',
    ],
    [
      { ...FAILING, limits: ['starts-failing', 'placement-failing', 'starts-throttled'] },
      'organization "default", tags (untagged): coderd will fail about 18 of 30 pending jobs from 20 November 2026 10:00:00 UTC on, if pool "cpu" stays limited by failing starts and failing placement and ECS\'s wait. coderd gives pending jobs 30 min',
    ],
    [
      { ...FAILING, limits: ['waiting-for-vacant', 'license-missing', 'capped-at-prebuilds-max-tasks'] },
      'organization "default", tags (untagged): coderd will fail about 18 of 30 pending jobs from 20 November 2026 10:00:00 UTC on, if pool "cpu" stays limited by tasks whose daemon never registered and coderd\'s missing license and the part of max that prebuilds may use. coderd gives pending jobs 30 min',
    ],
    [
      { ...FAILING, limits: ['role-untried'] },
      'organization "default", tags (untagged): coderd will fail about 18 of 30 pending jobs from 20 November 2026 10:00:00 UTC on. coderd gives pending jobs 30 min',
    ],
  ],
  'jobs-never-started': [
    [
      { ...IN, jobs: 1, failed: { from: AT, to: AT }, waitedMs: 1_800_000, workspaces: [], pool },
      'organization "default", tags (untagged): coderd failed 1 job at 20 November 2026 09:00:00 UTC, because no daemon took it in 30 min. Pool "cpu" has these tags. Mend the cause, then start it again',
    ],
    [
      {
        ...{ ...IN, jobs: 2, failed: { from: AT, to: LATER }, waitedMs: 1_800_000 },
        ...{ workspaces: ['ada/dev', 'ben/dev'], pool: null },
      },
      'organization "default", tags (untagged): coderd failed 2 jobs from 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC, because no daemon took them in 30 min. No pool has these tags. Mend the cause, then start them again: ada/dev, ben/dev',
    ],
  ],
  'override-malformed': [
    [
      { ...MALFORMED, problem: 'unknown-value' },
      'pool "cpu": the tag coder-autoscaler:pin of its service is "two", not a number of tasks. Scale-in is on hold until you write the override again (`autoscaler pin`, `pause`) or remove it (`unpin`, `resume`)',
    ],
    [
      { ...MALFORMED, tag: 'coder-autoscaler:pause', problem: 'unknown-value' },
      'pool "cpu": the tag coder-autoscaler:pause of its service is "two", not "all" or "scale-in". Scale-in is on hold until you write the override again (`autoscaler pin`, `pause`) or remove it (`unpin`, `resume`)',
    ],
    [
      { ...MALFORMED, tag: 'coder-autoscaler:pim', problem: 'unknown-tag' },
      'pool "cpu": its service has the unknown tag coder-autoscaler:pim. Scale-in is on hold until you remove the tag. To override a pool, use `autoscaler pin` or `pause`',
    ],
    [
      { ...MALFORMED, tag: 'coder-autoscaler:pin-until', seen: '', problem: 'no-end' },
      'pool "cpu": its service has an override without the tag coder-autoscaler:pin-until, so its end is unknown. Scale-in is on hold until you write the override again (`autoscaler pin`, `pause`) or remove it (`unpin`, `resume`)',
    ],
    [
      { ...MALFORMED, tag: 'coder-autoscaler:pin-until', seen: 'noon', problem: 'unreadable-end' },
      'pool "cpu": the tag coder-autoscaler:pin-until of its service is "noon", not a time such as 2026-11-20T18:00:00Z. Scale-in is on hold until you write the override again (`autoscaler pin`, `pause`) or remove it (`unpin`, `resume`)',
    ],
  ],
  'image-newer-than-server': [
    [
      { pool, image: 'coder:v2.30.0', version: 'v2.29.0' },
      'pool "cpu": its image coder:v2.30.0 is newer than coderd v2.29.0, so coderd refuses its daemons. Use the image of coderd\'s version',
    ],
  ],
  'daemons-share-task': [
    [
      {
        ...{ pool, tasks: 2, daemons: ['cpu-0a', 'ip-10-0-1-2'] },
        rows: [
          { id: daemonId('f1'), key: 'gpu' },
          { id: daemonId('f2'), key: null },
        ],
      },
      'pool "cpu": 2 tasks may have more than one daemon (cpu-0a, ip-10-0-1-2; coderd\'s rows f1 with key "gpu", f2). Stop the daemon that runs outside the task. 90 s later its row no longer counts; until then scale-in of the pool is on hold. The rows do not tell which one runs in the task. If nobody knows it, replace the pool\'s key. `coder provisioner keys delete` deletes the rows of a key at once',
    ],
  ],
  'starts-failing': [
    [{ pool, tasks: 0, reason: 'pull' }, 'pool "cpu": tasks do not start: pull'],
    [
      { pool, tasks: 3, reason: 'pull', notTriedSince: AT },
      'pool "cpu": ECS lists 3 tasks that failed to start since the last daemon registered: pull. Not tried since 20 November 2026 09:00:00 UTC, as no job needs a task. The next start tells whether the cause is mended',
    ],
  ],
  'starts-throttled': [
    [
      { ...THROTTLED, before: [] },
      'pool "cpu": after failed starts ECS waits before its next try, for 5 min now and 27 min at most. Once the cause is mended, end this wait: `aws ecs update-service --cluster coder --service Stack-cpu --force-new-deployment`',
    ],
    [
      { ...THROTTLED, before: ['lists-are-whole', 'deployment-is-completed', 'tasks-have-stopped'] },
      'pool "cpu": after failed starts ECS waits before its next try, for 5 min now and 27 min at most. Do not end this wait with a deployment before the lists of services and tasks can be read whole and its only deployment is completed and its tasks have stopped',
    ],
  ],
  'placement-failing': [
    [
      { pool, tasks: 0, since: AT, reason: 'no room' },
      'pool "cpu": ECS has failed to place tasks since 20 November 2026 09:00:00 UTC: no room. Jobs wait, or go to other pools with these tags',
    ],
    [
      { pool, tasks: 1, since: AT, reason: 'no room', notTriedSince: LATER },
      'pool "cpu": ECS has failed to place 1 task since 20 November 2026 09:00:00 UTC: no room. Not tried since 20 November 2026 10:00:00 UTC, as no job needs a task. The next start tells whether the cause is mended',
    ],
  ],
  'build-died-with-task': [
    [
      { pool, organization, builds: [BUILD] },
      'pool "cpu": 1 build died with its task: start of alice/dev (Spot interruption, 20 November 2026 10:00:00 UTC). Resources may be left over in the cloud. coderd never got the new state. In the cloud, find resources of alice/dev that were created from 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC. Delete those that `coder state pull alice/dev` does not list. Then start the workspace again',
    ],
    [
      {
        ...{ pool, organization },
        builds: [BUILD, { ...BUILD, owner: null, cause: 'host', transition: null }],
      },
      'pool "cpu": 2 builds died with their tasks: start of alice/dev (Spot interruption, 20 November 2026 10:00:00 UTC), build of dev (host failure, 20 November 2026 10:00:00 UTC). Resources may be left over in the cloud. coderd never got the new state. Run `autoscaler explain --dead`',
    ],
  ],
  'build-of-task-unknown': [
    [
      ONE,
      'pool "cpu": 1 task ended unasked (coder/task-0), and coderd does not list its daemon any more (provisioner key deleted?). It is unknown whether it ran a build. Check the builds that failed in Coder up to 10 min later',
    ],
    [
      FIVE,
      'pool "cpu": 5 tasks ended unasked (coder/task-0, coder/task-1, coder/task-2 and 2 more), and coderd does not list their daemons any more (provisioner key deleted?). It is unknown whether they ran a build. Check the builds that failed in Coder up to 10 min later',
    ],
  ],
  'daemons-without-task': [
    [{ pool, daemons: ['a'] }, 'pool "cpu": 1 daemon has no ECS task (already stopped?): a. Ignoring it'],
    [
      { pool, daemons: ['a', 'b', 'c', 'd'] },
      'pool "cpu": 4 daemons have no ECS task (already stopped?): a, b, c and 1 more. Ignoring them',
    ],
  ],
  'tasks-fewer-than-counted': [
    [
      { pool, counted: 3, seen: 1 },
      'pool "cpu": ECS counts 3 tasks but lists 1. Scale-in is on hold until the numbers agree',
    ],
  ],
  'service-missing': [
    [
      { pool },
      'pool "cpu": no active ECS service in the cluster has the tag coder-autoscaler:pool=cpu. Deploy the configuration, or remove the pool from it. A deployed service starts with 1 task, with min: 0 too; if nothing needs it, it drains',
    ],
  ],
  'service-ambiguous': [
    [
      { pool, services: ['a', 'b'] },
      'pool "cpu": 2 services have its tag (a, b). Keep the tag on one of them',
    ],
  ],
  'count-changed-by-others': [
    [
      { pool, from: 2, to: 5 },
      'pool "cpu": somebody else changed the desired count from 2 to 5. Leave it to the autoscaler: `autoscaler pin` fixes it for a time, `autoscaler doctor` looks for scalable targets. It may have been a person, Application Auto Scaling, a second deployment, or another instance of this function',
    ],
  ],
  'count-contested': [
    [
      { pool, changes: 4 },
      'pool "cpu": others changed the desired count 4 times in the last hour. Scale-in is on hold. Find out who: `aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventName,AttributeValue=UpdateService`. If it is Application Auto Scaling, `autoscaler doctor` names the target to deregister. Only pending jobs launch tasks, because each correction would launch or stop tasks again. The autoscaler resumes an hour after the last time when others made 3 changes within 10 min',
    ],
  ],
  'daemon-tags-differ': [
    [
      { pool, daemons: ['a', 'b'] },
      'pool "cpu": coderd shows 2 daemons with other tags than the pool\'s (a, b). The provisioner key belongs to another pool, the token to another user, or a daemon of the same name has taken the row',
    ],
  ],
  'possible-intruder': [
    [
      { pool, daemons: [{ name: 'a', key: 'gpu' }] },
      'pool "cpu": 1 unknown daemon has the id or the address of one of its tasks (a with key "gpu"). Find out who started it. The name or the tags are not those of that task\'s daemon. The autoscaler ignores it, but coderd gives it jobs and their secrets. If nobody knows it, replace the key and delete the old one in coderd',
    ],
    [
      {
        pool,
        daemons: [
          { name: 'a', key: 'gpu' },
          { name: 'b', key: null },
        ],
      },
      'pool "cpu": 2 unknown daemons have the id or the address of one of its tasks (a with key "gpu", b). Find out who started them. The name or the tags are not those of that task\'s daemon. The autoscaler ignores them, but coderd gives them jobs and their secrets. If nobody knows them, replace the key and delete the old one in coderd',
    ],
  ],
  'psk-changed': [
    [
      { ...SECRET, kind: 'psk' },
      'pool "cpu": the pre-shared key in secret coder/keys changed, and no newer task has connected. If coderd has another key, set it there too (CODER_PROVISIONER_DAEMON_PSK) and restart coderd, which reads it only when it starts. The key changed at 20 November 2026 08:00:00 UTC; a task is newer if ECS created it more than 2 min later. The pool replaces its older tasks once a newer one has connected',
    ],
  ],
  'tasks-with-old-secret': [
    [
      { ...SECRET, ...ONE, of: 4 },
      'pool "cpu": 1 of 4 tasks still uses the key of 12 November 2026 (task-0). Wait for their builds before you delete the old key. The secret changed at 20 November 2026 08:00:00 UTC. If no build runs there, look for other findings about this pool: a pause, a doubt, failing starts or a pool without a guard keep old tasks',
    ],
    [
      { ...SECRET, ...FIVE, of: 9, kind: 'variable', previousAt: null },
      'pool "cpu": 5 of 9 tasks still use a value of secret coder/keys from before 20 November 2026 08:00:00 UTC (task-0, task-1, task-2 and 2 more). Wait for their builds before you delete the old value. The secret changed at 20 November 2026 08:00:00 UTC. If no build runs there, look for other findings about this pool: a pause, a doubt, failing starts or a pool without a guard keep old tasks',
    ],
  ],
  'tasks-unguarded': [
    [
      ONE,
      'pool "cpu": 1 task has a job and no lease (coder/task-0). Scale-in is on hold while the pool has such tasks. If a daemon has just died, its guard ends the task within 4 min. Otherwise read the task\'s log: the guard failed, or the task role lacks ecs:UpdateTaskProtection',
    ],
    [
      FIVE,
      'pool "cpu": 5 tasks have jobs and no lease (coder/task-0, coder/task-1, coder/task-2 and 2 more). Scale-in is on hold while the pool has such tasks. If a daemon has just died, its guard ends the task within 4 min. Otherwise read the task\'s log: the guard failed, or the task role lacks ecs:UpdateTaskProtection',
    ],
  ],
  'tasks-lease-late': [
    [
      FIVE,
      "pool \"cpu\": 5 tasks set no lease within 5 min after the start, or for an hour (coder/task-0, coder/task-1, coder/task-2 and 2 more). Read the task's log. Either the guard's processes have died, ECS's agent does not answer, the task role lacks ecs:UpdateTaskProtection, or ECS refuses it because of a deployment. 48 h after the last lease ECS may stop the task, with its build",
    ],
  ],
  'tasks-vacant': [
    [
      FIVE,
      'pool "cpu": 5 tasks ran for 15 min without a lease or a daemon (coder/task-0, coder/task-1, coder/task-2 and 2 more). Read the task\'s log',
    ],
  ],
  'tasks-without-daemon': [
    [
      ONE,
      'pool "cpu": 1 task should have a daemon but has none (coder/task-0). Read the task\'s log, and run `autoscaler doctor`: somebody may have deleted its provisioner key',
    ],
    [
      FIVE,
      'pool "cpu": 5 tasks should have a daemon but have none (coder/task-0, coder/task-1, coder/task-2 and 2 more). Read the task\'s log, and run `autoscaler doctor`: somebody may have deleted its provisioner key',
    ],
  ],
  'tasks-draining-without-daemon': [
    [
      FIVE,
      'pool "cpu": 5 tasks (coder/task-0, coder/task-1, coder/task-2 and 2 more) drained for 30 min without a live daemon. The guard no longer reacts, so the task stays and is paid for. Read the task\'s log. If no build runs there, stop the task in ECS',
    ],
  ],
  'tasks-draining-for-long': [
    [
      ONE,
      'pool "cpu": 1 task (coder/task-0) has drained for 6 h or more. If a build is still running there, wait for it or cancel it in Coder. Otherwise the daemon hangs: read the task\'s log, then stop the task in ECS',
    ],
    [
      FIVE,
      'pool "cpu": 5 tasks (coder/task-0, coder/task-1, coder/task-2 and 2 more) have drained for 6 h or more. If a build is still running there, wait for it or cancel it in Coder. Otherwise the daemon hangs: read the task\'s log, then stop the task in ECS',
    ],
  ],
  'tasks-busy-for-long': [
    [
      ONE,
      'pool "cpu": 1 task (coder/task-0) has run one build for a day or more. Terraform probably hangs, and the task stays until the build ends. Read the build\'s log in Coder, and cancel the build',
    ],
    [
      FIVE,
      'pool "cpu": 5 tasks (coder/task-0, coder/task-1, coder/task-2 and 2 more) have run one build for a day or more. Terraform probably hangs, and the task stays until the build ends. Read the build\'s log in Coder, and cancel the build',
    ],
  ],
};

const examples = Object.entries(FINDINGS).flatMap(([code, rows]) =>
  rows.map(([fields, sentence]) => ({ finding: { code, ...fields } as Finding, sentence })),
);

it.each(examples)('says "$sentence"', ({ finding, sentence }) => {
  expect(sentenceOf(finding)).toBe(sentence);
});

/** Findings about lists that are incomplete or unavailable. */
const LISTS: readonly (readonly [FindingOf<ListCode>, sentence: string])[] = [
  [
    { code: 'jobs-failed', organization, error },
    'organization "default": could not list provisioner jobs: no answer',
  ],
  [
    { code: 'jobs-truncated', organization },
    'organization "default": the list of provisioner jobs is truncated. The oldest pending jobs may be missing',
  ],
  [
    { code: 'jobs-truncated', organization, error, leftOut: 2 },
    'organization "default": the list of provisioner jobs is truncated: no answer',
  ],
  [{ code: 'previous-jobs-stale' }, 'the list of previous jobs is stale'],
  [
    { code: 'daemons-forbidden', organization, error },
    'organization "default": no permission to list provisioner daemons: no answer',
  ],
  [{ code: 'services-failed', error }, 'could not list ECS services: no answer'],
  [{ code: 'tasks-truncated', error }, 'the list of ECS tasks is truncated: no answer'],
  [{ code: 'protections-failed', error }, 'could not list ECS task protections: no answer'],
  [
    { code: 'workspaces-stale', organization, error, takenAt: AT },
    'organization "default": the list of workspaces is stale: no answer. Using the list of 20 November 2026 09:00:00 UTC',
  ],
  [
    { code: 'templates-stale', organization, error },
    'organization "default": the list of templates is stale: no answer. Using the list of an earlier look',
  ],
  [
    { code: 'workspaces-forbidden', organization, error },
    'organization "default": no permission to list workspaces: no answer. Each pool keeps its last daemon. Pools at zero do not start for what the list would show',
  ],
  [
    { code: 'workspaces-failed', organization, error },
    'organization "default": could not list workspaces: no answer. Each pool keeps its last daemon. Pools at zero do not start for what the list would show',
  ],
  [
    { code: 'workspaces-truncated', organization },
    'organization "default": the list of workspaces is truncated. Each pool keeps its last daemon. Pools at zero do not start for what the list would show',
  ],
  [
    { code: 'templates-forbidden', organization, error },
    'organization "default": no permission to list templates: no answer. Each pool keeps its last daemon. Pools at zero do not start for what the list would show',
  ],
  [
    { code: 'templates-failed', organization, error },
    'organization "default": could not list templates: no answer. Each pool keeps its last daemon. Pools at zero do not start for what the list would show',
  ],
  [
    { code: 'templates-truncated', organization },
    'organization "default": the list of templates is truncated. Each pool keeps its last daemon. Pools at zero do not start for what the list would show',
  ],
  [
    { code: 'secrets-forbidden' },
    "no permission to read the metadata of the pools' secrets. Deploy the stack again, or grant the function's role secretsmanager:ListSecrets on \"*\" and secretsmanager:ListSecretVersionIds on the pools' secrets. A change that it cannot read replaces no task",
  ],
  [
    { code: 'secrets-forbidden', error },
    "no permission to read the metadata of the pools' secrets. Deploy the stack again, or grant the function's role secretsmanager:ListSecrets on \"*\" and secretsmanager:ListSecretVersionIds on the pools' secrets. A change that it cannot read replaces no task. AWS says: no answer",
  ],
  [
    { code: 'secrets-failed', error },
    "could not list the pools' secrets: no answer. A change that it cannot read replaces no task until the list is back",
  ],
  [
    { code: 'secrets-failed' },
    "could not list the pools' secrets. A change that it cannot read replaces no task until the list is back",
  ],
  [
    { code: 'secrets-stale', error, takenAt: AT },
    "could not list the pools' secrets since 20 November 2026 09:00:00 UTC: no answer. A secret that changed since then replaces no task until the list is back",
  ],
  [
    { code: 'secrets-stale' },
    "could not list the pools' secrets since an earlier look. A secret that changed since then replaces no task until the list is back",
  ],
];

it.each(LISTS)('says of %o: %s', (finding, sentence) => {
  expect(sentenceOf(finding)).toBe(sentence);
});

const failed = (code: ListCode, given: object = { organization }): Finding =>
  ({ code, error: 'coderd does not answer.', ...given }) as Finding;

/** Findings with one cause share a line. */
const SHARED: readonly (readonly [
  scenario: string,
  findings: readonly Finding[],
  lines: readonly string[],
])[] = [
  [
    'one list',
    [failed('jobs-failed')],
    ['organization "default": could not list provisioner jobs: coderd does not answer.'],
  ],
  [
    'two lists of one organization',
    [failed('jobs-failed'), failed('previous-jobs-failed')],
    ['coderd does not answer; could not read: jobs, previous jobs of "default"'],
  ],
  [
    'one list of two',
    [failed('jobs-failed'), failed('jobs-failed', { organization: 'data' })],
    ['coderd does not answer; could not read: jobs of "default", "data"'],
  ],
  [
    'lists of ECS',
    [failed('services-failed', {}), failed('tasks-failed', {})],
    ['coderd does not answer; could not read: services, tasks'],
  ],
  [
    'lists of the forecast among them',
    [failed('jobs-failed'), failed('workspaces-failed'), failed('templates-failed')],
    [
      'coderd does not answer; could not read: jobs, workspaces, templates of "default". Each pool keeps its last daemon. Pools at zero do not start for what the list would show',
    ],
  ],
  [
    'two causes',
    [failed('jobs-failed'), failed('daemons-failed', { organization, error: 'refused' })],
    [
      'organization "default": could not list provisioner jobs: coderd does not answer.',
      'organization "default": could not list provisioner daemons: refused',
    ],
  ],
  [
    'no known cause',
    [failed('jobs-stale', { organization, error: undefined }), failed('daemons-stale', { error: undefined })],
    [
      'organization "default": the list of provisioner jobs is stale',
      'the list of provisioner daemons is stale',
    ],
  ],
];

it.each(SHARED)('has a line for each cause: %s', (_, findings, lines) => {
  expect(findingLines(findings)).toEqual(lines);
});

const CAUSES: Readonly<Record<DeathCause, string>> = {
  spot: 'Spot interruption',
  host: 'host failure',
  maintenance: 'maintenance by AWS',
  memory: 'out of memory',
  'by-hand': 'stopped by hand',
  exited: 'its daemon ended, up to 4 min before the task stopped',
  scaling: 'stopped for a scale-in or a deployment',
  unknown: 'unknown cause',
};

it.each(Object.entries(CAUSES) as readonly (readonly [DeathCause, string])[])(
  'says of a build that died by %s: %s',
  (cause, text) => {
    const finding = { code: 'build-died-with-task', pool, organization } as const;
    expect(sentenceOf({ ...finding, builds: [{ ...BUILD, cause }] })).toContain(
      `start of alice/dev (${text}, 20 November 2026 10:00:00 UTC)`,
    );
  },
);

/** What a person checks after the death of a build. */
const CHECKS: readonly (readonly [Partial<Parameters<typeof checkText>[0]>, advice: string])[] = [
  [
    {},
    'In the cloud, find resources of alice/dev that were created from 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC. Delete those that `coder state pull alice/dev` does not list. Then start the workspace again',
  ],
  [
    { transition: 'stop' },
    'Stop alice/dev again in Coder. Then check in the cloud that nothing of it still runs, and that nothing was changed by half from 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC',
  ],
  [
    { transition: 'delete' },
    'Delete alice/dev again in Coder. Then check in the cloud that nothing of it is left',
  ],
  [
    { transition: null },
    'In the cloud, compare the resources of alice/dev that were created or changed from 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC with `coder state pull alice/dev`. Then repeat the build',
  ],
  [
    { owner: null },
    'In the cloud, find resources of dev that were created from 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC. Delete those that `coder state pull OWNER/WORKSPACE` does not list. Then start the workspace again',
  ],
  [
    { workspace: null },
    'In the cloud, find resources of workspace w-1 that were created from 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC. Delete those that `coder state pull OWNER/WORKSPACE` does not list. Then start the workspace again',
  ],
  [
    { workspace: null, workspaceId: null, owner: null },
    'In the cloud, find resources of an unknown workspace that were created from 20 November 2026 09:00:00 UTC to 20 November 2026 10:00:00 UTC. Delete those that `coder state pull OWNER/WORKSPACE` does not list. Then start the workspace again',
  ],
];

it.each(CHECKS)('tells what to check after the death of a build with %o: %s', (given, advice) => {
  expect(checkText({ ...BUILD, ...given })).toBe(advice);
});
