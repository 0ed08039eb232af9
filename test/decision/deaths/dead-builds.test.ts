/** Which builds died with their tasks: each order of events, and what the lists do not show. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import type { Daemon, Job, OrganizationReadings, Task } from '../../../lambda/decision/model/snapshot.ts';
import {
  aConfig,
  aDaemon,
  ago,
  aJob,
  anOrganization,
  aPool,
  arnOf,
  aSnapshot,
  aTask,
  aWorkspace,
  daemonId,
  HOUR,
  jobId,
  MINUTE,
  NOW,
  reading,
  SECOND,
  taskIdOf,
} from '../../support/parts.ts';
import { table } from '../../support/table.ts';

/** A task that ran for an hour, and that AWS interrupted ten minutes ago. */
const SPOT = aTask({
  startedAt: ago(70 * MINUTE),
  stoppedAt: ago(10 * MINUTE),
  lastStatus: 'STOPPED',
  desiredStatus: 'STOPPED',
  stopCode: 'SpotInterruption',
  stoppedReason: 'Your Spot Task was interrupted.',
  containers: [{ name: 'provisioner', exitCode: 137 }],
});
const BY_HAND = { ...SPOT, stopCode: 'UserInitiated', stoppedReason: 'Task stopped by user' };

/** A start of `dev` that the task's daemon took 15 minutes ago. */
const BUILD = aJob({
  id: jobId('build'),
  created_at: ago(16 * MINUTE),
  started_at: ago(15 * MINUTE),
  status: 'running',
  worker_id: daemonId('daemon'),
  metadata: {
    workspace_id: 'w',
    workspace_name: 'dev',
    template_id: 't',
    template_name: 'aws-linux',
    workspace_build_transition: 'start',
  },
});
const ended = (msAgo: number, given: Partial<Job> = {}): Job => ({
  ...BUILD,
  status: 'failed',
  error: 'other',
  completed_at: ago(msAgo),
  ...given,
});
const reapedEarly = ended(12 * MINUTE, { error: 'hung', started_at: ago(40 * MINUTE) });
/** A job that coderd failed 20 minutes before the end of the task. */
const lost = ended(30 * MINUTE, { error: 'hung', started_at: ago(50 * MINUTE) });
/** As coderd fails the job of a daemon that is gone. */
const reaped = ended(4 * MINUTE, { error: 'hung' });

const DAEMON = aDaemon({ status: 'offline', last_seen_at: ago(11 * MINUTE), current_job: null });
const having = (current: Job | null, previous: Job | null = null): Daemon => ({
  ...DAEMON,
  current_job: current && { id: current.id, status: current.status },
  previous_job: previous && { id: previous.id, status: previous.status },
});
const jobsAt = (items: readonly Job[], msAgo = 0) => ({ ...reading(items), takenAt: ago(msAgo) });

type World = Partial<OrganizationReadings> & {
  readonly tasks?: readonly Task[];
  readonly ecsAt?: number;
  readonly version?: string;
};

function findingsOf({
  tasks = [SPOT],
  ecsAt = NOW,
  version = 'v2.30.0',
  ...given
}: World): readonly Finding[] {
  const organization = anOrganization({ jobs: jobsAt([]), ...given });
  const base = aSnapshot({ organizations: [organization], tasks, version });
  const services = { ...base.ecs.services, takenAt: ecsAt as EpochMs };
  const { findings } = decide({ ...base, ecs: { ...base.ecs, services } }, aConfig(aPool()));
  return findings.filter(({ code }) => code.startsWith('build-'));
}

const deadJobs = (world: World): readonly string[] =>
  findingsOf(world).flatMap((finding) =>
    finding.code === 'build-died-with-task' ? finding.builds.map(({ job }) => job) : [],
  );

const running = { jobs: jobsAt([BUILD]), daemons: reading([having(BUILD)]) };
const failed = (job: Job): World => ({ daemons: reading([having(null, job)]), previousJobs: reading([job]) });

describe('a build has died with its task', () => {
  it.each<{ readonly world: World; readonly because: string }>([
    { world: running, because: 'coderd still lists it as running 10 minutes after the task stopped' },
    { world: failed(reaped), because: 'coderd failed it 6 minutes after the task stopped' },
    {
      world: failed(ended(4 * MINUTE, { error: undefined })),
      because: 'coderd failed it long after the task stopped, for whatever reason',
    },
    {
      world: {
        daemons: reading([{ ...having(null, reapedEarly), last_seen_at: ago(17 * MINUTE) }]),
        previousJobs: reading([reapedEarly]),
      },
      because: 'its daemon crashed while the task drained, and coderd failed it before the task stopped',
    },
    {
      world: failed({ ...reaped, canceled_at: ago(9 * MINUTE) }),
      because: 'cancelling it could not reach its daemon any more',
    },
    {
      world: { daemons: reading([having(null, reaped)]), recentJobs: reading([reaped]) },
      because: 'an earlier look read it, and this one did not need to',
    },
    {
      world: {
        jobs: jobsAt([BUILD]),
        recentJobs: reading([{ ...BUILD, worker_name: `cpu-${taskIdOf(1)}` }]),
      },
      because: 'an earlier look saw the name of its daemon, whose row was deleted with its key',
    },
    {
      world: {
        ...running,
        jobs: jobsAt([BUILD, aJob({ started_at: ago(65 * MINUTE), worker_id: daemonId('daemon') })]),
      },
      because: 'it is the last job that its daemon took',
    },
  ])('because $because', ({ world }) => {
    expect(deadJobs(world)).toEqual(['build']);
  });
});

describe('a build has not died with its task, or that is not known yet,', () => {
  const later = aJob({ started_at: ago(13 * MINUTE), worker_id: daemonId('daemon') });
  it.each<{ readonly world: World; readonly because: string }>([
    {
      world: { ...running, tasks: [{ ...SPOT, stoppedAt: ago(90 * SECOND) }] },
      because: 'its result may still come in the first two minutes',
    },
    {
      world: { ...running, jobs: jobsAt([BUILD], 9 * MINUTE) },
      because: 'the list of jobs is from shortly after the end of the task',
    },
    {
      world: { ...running, tasks: [{ ...SPOT, lastStatus: 'STOPPING' }] },
      because: 'the task has 120 s to finish it',
    },
    {
      world: failed(ended(10 * MINUTE + 20 * SECOND)),
      because: 'Terraform failed, and the daemon reported it before the task stopped',
    },
    {
      world: failed(ended(10 * MINUTE + 20 * SECOND, { status: 'succeeded' })),
      because: 'it succeeded within the 120 s after SIGTERM',
    },
    {
      world: failed(ended(10 * MINUTE + 20 * SECOND, { status: 'canceled', canceled_at: ago(11 * MINUTE) })),
      because: 'the daemon cancelled it',
    },
    {
      world: failed(ended(4 * MINUTE, { status: 'succeeded' })),
      because: 'a result that comes after the end of its task means that the clocks are wrong',
    },
    {
      world: {
        recentJobs: reading([
          { ...ended(4 * MINUTE, { status: 'succeeded' }), worker_name: `cpu-${taskIdOf(1)}` },
        ]),
      },
      because: 'the same of a daemon whose row was deleted',
    },
    {
      world: { daemons: reading([having(null, reaped)]) },
      because: 'it failed, and no list says when',
    },
    {
      world: { daemons: reading([having(BUILD)]), recentJobs: reading([BUILD]) },
      because: 'an earlier look saw it running, and no list of this look shows it',
    },
    {
      world: { ...running, jobs: { status: 'failed', items: [] }, recentJobs: reading([BUILD]) },
      because: 'coderd does not answer',
    },
    {
      world: { ...running, jobs: jobsAt([{ ...BUILD, type: 'template_version_import' }]) },
      because: 'it is the import of a template, which leaves nothing behind',
    },
    {
      world: { ...running, jobs: jobsAt([{ ...BUILD, type: 'template_version_dry_run' }]) },
      because: 'it is a dry run, which leaves nothing behind',
    },
    {
      world: {
        daemons: reading([having(null, { ...later, status: 'failed' })]),
        previousJobs: reading([
          reaped,
          { ...later, status: 'failed', error: 'other', completed_at: ago(11 * MINUTE) },
        ]),
      },
      because: 'coderd lost sight of it for a time, and its daemon took another job after it',
    },
    {
      world: { ...running, tasks: [{ ...SPOT, group: 'service:another' }] },
      because: 'the task is of no pool',
    },
    {
      world: {
        daemons: reading([{ ...having(null, lost), last_seen_at: ago(10 * MINUTE) }]),
        previousJobs: reading([lost]),
      },
      because: 'coderd was down for 20 minutes and failed it, and its daemon lived on until an idle drain',
    },
    { world: { daemons: reading([having(null)]) }, because: 'its daemon was idle' },
  ])('because $because', ({ world }) => {
    expect(findingsOf(world)).toEqual([]);
  });
});

it('prints no control characters of a reason that a person gave to StopTask', () => {
  const tasks = [{ ...BY_HAND, stoppedReason: 'bad\u001b[2J\nbuild\u009b1m\u202e', containers: [] }];
  expect(findingsOf({ ...running, tasks })).toMatchObject([{ builds: [{ reason: 'bad [2J build 1m' }] }]);
});

it('compares the times of coderd and AWS by the difference of their clocks in this look', () => {
  // AWS's clock is 20 minutes behind: the task stopped 5 minutes ago, at 9:35 by AWS's clock
  const tasks = [{ ...SPOT, stoppedAt: ago(25 * MINUTE), startedAt: ago(60 * MINUTE) }];
  const given = { tasks, ecsAt: ago(20 * MINUTE) };
  expect(deadJobs({ ...given, ...failed(ended(5 * MINUTE + 10 * SECOND)) })).toEqual([]);
  expect(deadJobs({ ...given, ...failed(ended(2 * MINUTE)) })).toEqual(['build']);
});

it('does not take the job of a later task for that of an earlier one with the same host name', () => {
  const address = [{ networkInterfaces: [{ privateIpv4Address: '10.0.1.2' }] }];
  const dead = { ...SPOT, containers: address };
  const alive = aTask({ taskArn: arnOf(2), startedAt: ago(8 * MINUTE), containers: address });
  const daemon = aDaemon({ name: 'ip-10-0-1-2', status: 'busy' });
  const job = { ...BUILD, started_at: ago(7 * MINUTE) };
  const world = {
    tasks: [dead, alive],
    jobs: jobsAt([job]),
    daemons: reading([{ ...daemon, current_job: job }]),
  };
  expect(deadJobs(world)).toEqual([]);
  const earlier = { ...BUILD, started_at: ago(12 * MINUTE) };
  expect(deadJobs({ ...world, jobs: jobsAt([job, earlier]) })).toEqual(['build']);
});

describe('the report of a build that died', () => {
  it('names workspace, owner, transition, template, times, task, cause and the words of ECS', () => {
    const workspaces = reading([aWorkspace({ id: 'w', name: 'dev', owner_name: 'alice' })]);
    expect(findingsOf({ ...running, workspaces })).toEqual([
      {
        code: 'build-died-with-task',
        pool: 'cpu',
        organization: 'default',
        builds: [
          {
            job: 'build',
            workspace: 'dev',
            workspaceId: 'w',
            owner: 'alice',
            transition: 'start',
            template: 'aws-linux',
            startedAt: new Date(ago(15 * MINUTE)).toISOString(),
            stoppedAt: new Date(ago(10 * MINUTE)).toISOString(),
            task: taskIdOf(1),
            cause: 'spot',
            reason: 'Your Spot Task was interrupted.; exit code 137',
          },
        ],
      },
    ]);
  });

  it('takes the transition from the workspace if the list of jobs does not tell it', () => {
    const old = { ...BUILD, metadata: { workspace_id: 'w', template_id: 't' } };
    const latest_build = { transition: 'delete', job: { id: jobId('build'), status: 'running' } };
    const workspaces = reading([aWorkspace({ id: 'w', name: 'dev', owner_name: 'alice', latest_build })]);
    const [finding] = findingsOf({ ...running, jobs: jobsAt([old]), workspaces });
    expect(finding).toMatchObject({ builds: [{ transition: 'delete', workspace: 'dev', template: 't' }] });
  });

  it('has null for what no list tells', () => {
    const { metadata: _, ...bare } = BUILD;
    const nothing = { workspace: null, workspaceId: null, owner: null, transition: null, template: null };
    expect(findingsOf({ ...running, jobs: jobsAt([bare]) })).toMatchObject([{ builds: [nothing] }]);
  });

  it.each(table<{ readonly task: Partial<Task>; readonly cause: string }>`
    task                                                                                                      | cause
    ${{}}                                                                                                     | spot
    ${BY_HAND}                                                                                                | by-hand
    ${{ stopCode: 'InfrastructureHealth' }}                                                                   | host
    ${{ stopCode: 'TerminationNotice' }}                                                                      | maintenance
    ${{ stopCode: 'ServiceSchedulerInitiated', stoppedReason: 'ECS is performing maintenance on the host' }}  | maintenance
    ${{ stopCode: 'ServiceSchedulerInitiated', stoppedReason: 'Scaling activity initiated by deployment x' }} | scaling
    ${{ stopCode: 'EssentialContainerExited' }}                                                               | exited
    ${{ stopCode: 'EssentialContainerExited', containers: [{ exitCode: 137, reason: 'OutOfMemoryError: Container killed due to memory usage' }] }} | memory
    ${{
      containers: [
        { name: 'logger', reason: 'OutOfMemoryError' },
        { name: 'provisioner', exitCode: 137 },
      ],
    }} | spot
    ${{ stopCode: 'SomethingNew' }}                                                                           | unknown
    ${{ stopCode: undefined, stoppedReason: undefined, containers: [] }}                                      | unknown
  `)('has the cause $cause for $task.stopCode', ({ task, cause }) => {
    expect(findingsOf({ ...running, tasks: [{ ...SPOT, ...task }] })).toMatchObject([
      { builds: [{ cause }] },
    ]);
  });

  it('begins with the latest death, and counts a task that ECS lists twice once', () => {
    const other = { ...SPOT, taskArn: arnOf(2), stoppedAt: ago(5 * MINUTE) };
    const second = { ...BUILD, id: jobId('later'), worker_id: daemonId('second') };
    const daemons = reading([
      having(BUILD),
      { ...having(second), id: daemonId('second'), name: `cpu-${taskIdOf(2)}` },
    ]);
    const tasks = [SPOT, other, SPOT];
    expect(deadJobs({ tasks, daemons, jobs: jobsAt([BUILD, second]) })).toEqual(['later', 'build']);
  });
});

describe('a task whose build is unknown', () => {
  const unknown = [{ code: 'build-of-task-unknown', pool: 'cpu', tasks: [arnOf(1)] }];
  it('is reported if it was killed and coderd lists no daemon of it', () => {
    expect(findingsOf({})).toEqual(unknown);
    expect(findingsOf({ tasks: [BY_HAND] })).toEqual(unknown);
  });

  it('is reported in the order of the ARNs', () => {
    const tasks = [2, 1].map((index) => ({ ...SPOT, taskArn: arnOf(index) }));
    expect(findingsOf({ tasks })).toMatchObject([{ tasks: [arnOf(1), arnOf(2)] }]);
  });

  it('is not given the job of a daemon with its id and another prefix', () => {
    const job = { ...BUILD, worker_name: `x-${taskIdOf(1)}` };
    expect(findingsOf({ jobs: jobsAt([BUILD]), recentJobs: reading([job]) })).toMatchObject([
      { code: 'build-of-task-unknown' },
    ]);
  });

  it('is not given a job of an unknown daemon', () => {
    const stranger = { ...BUILD, worker_id: daemonId('unlisted') };
    expect(findingsOf({ jobs: jobsAt([stranger]), recentJobs: reading([stranger]) })).toEqual(unknown);
  });

  it.each(table<{ readonly world: World; readonly because: string }>`
    world                                                                                                 | because
    ${{ tasks: [{ ...SPOT, startedAt: ago(12 * MINUTE) }] }}                                              | it ran too briefly to have a daemon
    ${{ tasks: [{ ...SPOT, stoppedAt: ago(55 * MINUTE) }] }}                                              | coderd lists a daemon for an hour only
    ${{ daemons: { status: 'failed', items: [] } }}                                                       | the daemons could not be read
    ${{ version: 'v0.0.0-devel' }}                                                                        | coderd may not list daemons that are offline
    ${{ tasks: [{ ...SPOT, stopCode: 'ServiceSchedulerInitiated', stoppedReason: 'Scaling activity' }] }} | it left by itself
    ${{ tasks: [{ ...SPOT, stopCode: 'EssentialContainerExited', containers: [{ exitCode: 75 }] }] }}     | its guard exited without ever starting a daemon
    ${{
      tasks: [
        {
          ...SPOT,
          stopCode: 'EssentialContainerExited',
          containers: [
            { name: 'logger', exitCode: 137 },
            { name: 'provisioner', exitCode: 0 },
          ],
        },
      ],
    }} | its guard has drained, and ECS killed a sidecar
  `)('is not reported: $because', ({ world }) => {
    expect(findingsOf(world)).toEqual([]);
  });
});

it('keeps a finding for as long as ECS lists the task, and needs no list of protections', () => {
  expect(deadJobs({ ...running, tasks: [{ ...SPOT, stoppedAt: ago(HOUR - MINUTE) }] })).toEqual(['build']);
});
