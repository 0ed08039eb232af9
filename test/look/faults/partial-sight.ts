/** Stories of a pool whose starts fail or succeed, told to a function that cannot read some lists now and then. */
import { VirtualScheduler } from '../../../lab/world/base/virtual-scheduler.ts';
import { inProcessPorts } from '../../../lab/world/in-process/ports.ts';
import type { Reading } from '../../../lambda/decision/model/snapshot.ts';
import { MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { type LookResult, lookAndAct } from '../../../lambda/look/look.ts';
import type { Ports } from '../../../lambda/look/ports.ts';
import { type Lab, type LabPool, startLongLab } from '../../support/lab.ts';

export type List = 'services' | 'tasks' | 'protections' | 'daemons';

/** What makes starts fail. */
const CAUSES = {
  nothing: () => {},
  'the key is deleted': ({ world }: Lab) => world.deleteKey('cpu'),
  'the image cannot be pulled': ({ world }: Lab) =>
    world.ecs.failStarts(
      world.service('cpu').identity.name,
      'CannotPullContainerError: pull image manifest has been retried 7 time(s)',
    ),
} as const;

const FAILED: Reading<never> = { status: 'failed', error: 'no answer', items: [] };

/** The ports of a process that cannot read the lists while `isUnread` says so. */
function blinded({ coderd, ecs, ...ports }: Ports, lists: readonly List[], isUnread: () => boolean): Ports {
  const or = <T>(list: List, read: () => Promise<Reading<T>>): Promise<Reading<T>> =>
    isUnread() && lists.includes(list) ? Promise.resolve(FAILED) : read();
  return {
    ...ports,
    coderd: {
      buildInfo: () => coderd.buildInfo(),
      organizations: () => coderd.organizations(),
      jobs: (organization, build) => coderd.jobs(organization, build),
      daemons: (organization, build) => or('daemons', () => coderd.daemons(organization, build)),
      jobsByIds: (organization, ids) => coderd.jobsByIds(organization, ids),
      forecast: (organizations, when) => coderd.forecast(organizations, when),
      recentJobs: (organization, seen) => coderd.recentJobs(organization, seen),
      knowsEnd: (organization, id) => coderd.knowsEnd(organization, id),
      gone: (organization, open) => coderd.gone(organization, open),
      tokenExpiry: (now) => coderd.tokenExpiry(now),
      license: (now, isDoubted) => coderd.license(now, isDoubted),
    },
    ecs: {
      cluster: ecs.cluster,
      stack: ecs.stack,
      services: () => or('services', () => ecs.services()),
      tasks: (services) => or('tasks', () => ecs.tasks(services)),
      protections: (tasks) => or('protections', () => ecs.protections(tasks)),
      setDesired: (service, count) => ecs.setDesired(service, count),
      requestDrain: (tasks) => ecs.requestDrain(tasks),
      protect: (tasks) => ecs.protect(tasks),
    },
  };
}

export type Story = {
  readonly cause?: keyof typeof CAUSES;
  /** The lists that looks cannot read, at one look of `every`. @default all are read */
  readonly unread?: readonly List[];
  readonly every?: number;
  /** The looks that cannot read, in minutes from the start. @default the whole story */
  readonly between?: readonly [number, number];
  /** One job a minute for so long. */
  readonly jobMinutes?: number;
  readonly buildMinutes?: number;
  readonly minutes?: number;
  readonly seed?: number;
  /** Builds before the story, so that starts are known. @default none */
  readonly before?: number;
  /** A process lives for so many looks. @default the whole story */
  readonly looksAProcess?: number;
  readonly pool?: Partial<LabPool>;
  /** Called at each full minute. */
  readonly onMinute?: (minute: number, lab: Lab) => void;
};

/** One job a minute for 20 minutes, and a look each 10 s for an hour. */
export async function tell(story: Story) {
  const { cause = 'nothing', unread = [], every = 1, between = [0, 1e9], minutes = 60 } = story;
  const { jobMinutes = 20, buildMinutes = 2, seed = 1, looksAProcess = 1e9 } = story;
  const cpu: LabPool = {
    name: 'cpu',
    organization: 'default',
    tags: {},
    desiredCount: 0,
    max: 20,
    ...story.pool,
  };
  const lab = await startLongLab({ pools: [cpu], seed, overHttp: false });
  const { world } = lab;
  const submit = () =>
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: buildMinutes * MINUTE_MS });
  CAUSES[cause](lab);
  let number = 0;
  const isUnread = () => {
    const minute = number / 6;
    return unread.length > 0 && number % every === 0 && minute >= between[0] && minute < between[1];
  };
  let ports = blinded(lab.ports(), unread, isUnread);
  let highest = 0;
  const looks: LookResult[] = [];
  for (; number < minutes * 6; number++) {
    if (number % 6 === 0) {
      if (number / 6 < jobMinutes) submit();
      story.onMinute?.(number / 6, lab);
    }
    lab.pass(10);
    if (number % looksAProcess === 0 && number > 0) ports = blinded(newProcess(lab), unread, isUnread);
    looks.push(await lookAndAct(ports, lab.config));
    highest = Math.max(highest, world.service('cpu').state.desiredCount);
  }
  const now = world.timeline.now();
  const waits = world.coderd
    .jobs()
    .map(({ createdAt, startedAt }) => ((startedAt ?? now) - createdAt) / SECOND_MS)
    .sort((a, b) => a - b);
  return {
    lab,
    looks,
    launches: world.ecs.counts().launched,
    highest,
    p95S: Math.round(waits[Math.floor(waits.length * 0.95)] ?? 0),
    longestS: Math.round(waits.at(-1) ?? 0),
    unstarted: world.coderd.jobs().filter(({ startedAt }) => startedAt === undefined).length,
    killed: world.figures().killed,
  };
}

const newProcess = ({ world }: Lab): Ports =>
  inProcessPorts(world, { scheduler: new VirtualScheduler(world.timeline) })();
