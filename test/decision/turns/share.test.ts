/** When a pool with two kinds of capacity launches on Spot, and when on demand instead. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { EpochMs, ServiceArn } from '../../../lambda/decision/model/brands.ts';
import {
  aConfig,
  aDaemon,
  ago,
  aJob,
  aLease,
  anOrganization,
  aPool,
  arnOf,
  aService,
  aSnapshot,
  aTask,
  daemonId,
  HOUR,
  jobId,
  MINUTE,
  reading,
  SECOND,
  taskIdOf,
} from '../../support/parts.ts';

type Given = {
  /** Tasks that run on Spot, for an hour or longer. */
  readonly running: number;
  /** When AWS took tasks back. */
  readonly interrupted?: readonly EpochMs[];
  readonly person?: number;
  readonly because: string;
};

const onSpot = { group: 'service:Stack-spot' };
const spotService = (desiredCount: number) =>
  aService({
    ...{ serviceArn: 'arn:service/spot' as ServiceArn, serviceName: 'Stack-spot', desiredCount },
    tags: [{ key: 'coder-autoscaler:pool', value: 'cpu/spot' }],
  });
const waiting = (person: number) => ({ person, autostart: person, prebuild: person, stop: person });

/** Which service gets a task for a job. */
function launchesOn({ running, interrupted = [], person = 0.1 }: Omit<Given, 'because'>) {
  const tasks = Array.from({ length: running }, (_, index) =>
    aTask({ ...onSpot, taskArn: arnOf(index + 1) }),
  );
  const gone = interrupted.map((stoppedAt, index) =>
    aTask({
      ...onSpot,
      ...{ taskArn: arnOf(1_000 + index), lastStatus: 'STOPPED', desiredStatus: 'STOPPED' },
      ...{ stopCode: 'SpotInterruption', startedAt: ago(5 * HOUR), stoppedAt },
    }),
  );
  const snapshot = aSnapshot({
    organizations: [anOrganization({ jobs: reading([aJob()]) })],
    services: [aService(), spotService(running)],
    tasks: [...tasks, ...gone],
  });
  const capacity = ['spot', 'on-demand'] as const;
  const config = aConfig(aPool({ capacity, max: 500, waiting: waiting(person) }));
  const { pools } = decide(snapshot, { ...config, limits: { maxTasks: 500 } });
  const grown = pools[0]?.parts?.filter(({ desired: { from, to } }) => (to ?? 0) > (from ?? 0));
  return grown?.map((part) => part.capacity).join();
}

const just = ago(10 * MINUTE);

it.each<Given & { readonly on: 'spot' | 'on-demand' }>([
  { running: 0, on: 'spot', because: 'Spot is cheaper' },
  { running: 2, interrupted: [just], on: 'spot', because: 'one interruption is chance' },
  { running: 2, interrupted: [just, just], on: 'on-demand', because: 'two of a few tasks cost a lot' },
  { running: 100, interrupted: [just, just], on: 'spot', because: 'two of a hundred cost little' },
  {
    running: 100,
    interrupted: [just, just, just, just],
    on: 'on-demand',
    because: 'four cost more than Spot saves',
  },
  { running: 2, interrupted: [ago(61 * MINUTE), just], on: 'spot', because: 'an hour has passed' },
  { running: 2, interrupted: [just, just], person: 0, on: 'spot', because: 'waiting costs nothing' },
  { running: 100, interrupted: [just, just], person: 1, on: 'on-demand', because: 'waiting costs much' },
])(
  '$running tasks and $interrupted.length interruptions: $on, because $because',
  ({ on, because: _, ...given }) => {
    expect(launchesOn(given)).toBe(on);
  },
);

it('leaves the other part no room for tasks that start in vain while old ones hold leases', () => {
  const old = aTask({ ...onSpot, taskArn: arnOf(1), taskDefinitionArn: 'arn:task-definition/spot:1' });
  const fresh = [2, 3].map((index) =>
    aTask({ ...onSpot, taskArn: arnOf(index), startedAt: ago(5 * MINUTE), createdAt: ago(6 * MINUTE) }),
  );
  const snapshot = aSnapshot({
    organizations: [anOrganization({ jobs: reading([aJob(), aJob({ id: jobId('second') })]) })],
    services: [aService(), spotService(3)],
    tasks: [old, ...fresh],
    protections: [aLease({ taskArn: old.taskArn })],
  });
  const config = aConfig(aPool({ capacity: ['spot', 'on-demand'], max: 3 }));
  const [pool] = decide(snapshot, config).pools;
  expect(pool?.why).toContainEqual(expect.objectContaining({ because: 'starts-failing' }));
  // the old one is replaced, so the new ones have room for one more
  expect(pool?.desired.to).toBe(4);
});

it('launches no task on demand beside an idle daemon on Spot whose heartbeat is late', () => {
  const spot = aTask({ ...onSpot, taskArn: arnOf(1) });
  const message = '(service Stack-spot) was unable to place a task. Reason: Capacity is unavailable.';
  const countFor = (lastSeenAt: EpochMs) => {
    const snapshot = aSnapshot({
      organizations: [anOrganization({ daemons: reading([aDaemon({ last_seen_at: lastSeenAt })]) })],
      services: [aService(), { ...spotService(2), events: [{ createdAt: just, message }] }],
      tasks: [spot],
      protections: [aLease({ taskArn: spot.taskArn })],
    });
    const config = aConfig(aPool({ capacity: ['spot', 'on-demand'], max: 3, warm: 1 }));
    return decide(snapshot, config).pools[0]?.parts?.find(({ capacity }) => capacity === 'on-demand')?.desired
      .to;
  };
  expect(countFor(ago(91 * SECOND))).toBe(0);
  expect(countFor(ago(151 * SECOND))).toBe(1);
});

describe('a pool whose parts try to start tasks', () => {
  /** Starts that failed in the last minutes. */
  const failed = (first: number, group: string) =>
    [0, 1, 2].map((index) =>
      aTask({
        ...{ group, taskArn: arnOf(first + index), lastStatus: 'STOPPED', desiredStatus: 'STOPPED' },
        ...{ stopCode: 'TaskFailedToStart', createdAt: ago(3 * MINUTE), stoppedAt: ago(2 * MINUTE) },
      }),
    );
  const ON_DEMAND = 'service:Stack-cpu';

  /** The tasks that each part adds for three jobs, beside two busy tasks of one part. */
  function launched({ busy, failing, max }: Tried): string {
    const groups = { 'on-demand': ON_DEMAND, spot: onSpot.group };
    const tasks = [1, 2].map((index) => aTask({ group: groups[busy], taskArn: arnOf(index) }));
    const daemons = [1, 2].map((index) =>
      aDaemon({
        ...{ id: daemonId(`d${index}`), name: `cpu-${taskIdOf(index)}`, created_at: ago(HOUR) },
        ...{ status: 'busy', current_job: { id: jobId(`running-${index}`), status: 'running' } },
      }),
    );
    const running = [1, 2].map((index) =>
      aJob({ id: jobId(`running-${index}`), status: 'running', started_at: ago(MINUTE) }),
    );
    const pending = [1, 2, 3].map((index) => aJob({ id: jobId(`pending-${index}`) }));
    const snapshot = aSnapshot({
      organizations: [anOrganization({ jobs: reading([...running, ...pending]), daemons: reading(daemons) })],
      services: [aService({ desiredCount: busy === 'spot' ? 0 : 2 }), spotService(busy === 'spot' ? 2 : 0)],
      tasks: [...tasks, ...failing.flatMap((part, index) => failed(1_000 * (index + 1), groups[part]))],
      protections: tasks.map(({ taskArn }) => aLease({ taskArn })),
    });
    const config = aConfig(aPool({ capacity: ['spot', 'on-demand'], max }));
    const parts = decide(snapshot, config).pools[0]?.parts ?? [];
    return parts
      .map(({ capacity, desired: { from, to } }) => `${capacity} ${(to ?? 0) - (from ?? 0)}`)
      .join(', ');
  }
  type Tried = {
    readonly busy: 'spot' | 'on-demand';
    readonly failing: readonly ('spot' | 'on-demand')[];
    readonly max: number;
  };

  it.each<Tried & { readonly expected: string; readonly because: string }>([
    {
      ...{ busy: 'spot', failing: ['spot', 'on-demand'], max: 4 },
      ...{ expected: 'on-demand 1, spot 1', because: 'both fail, and there is room for a probe of each' },
    },
    {
      ...{ busy: 'spot', failing: ['spot', 'on-demand'], max: 3 },
      ...{ expected: 'on-demand 1, spot 0', because: 'the probe of one part takes the room of the other' },
    },
    {
      ...{ busy: 'on-demand', failing: ['spot'], max: 6 },
      ...{
        expected: 'on-demand 3, spot 1',
        because: 'one part launches, and the other has room for a probe',
      },
    },
    {
      ...{ busy: 'on-demand', failing: ['spot'], max: 5 },
      ...{ expected: 'on-demand 3, spot 0', because: 'launches of one part take the room of the other' },
    },
  ])('adds $expected up to max $max: $because', ({ expected, because: _, ...given }) => {
    expect(launched(given)).toBe(expected);
  });
});

describe('why a pool launches on demand', () => {
  const message = 'was unable to place a task. Reason: Capacity is unavailable.';
  const events = (service: string) => [{ createdAt: just, message: `(service ${service}) ${message}` }];
  type Told = {
    readonly capacity: readonly ('spot' | 'on-demand')[];
    readonly full: 'spot' | 'on-demand';
  };

  it.each<Told & { readonly expected: readonly string[]; readonly because: string }>([
    {
      ...{ capacity: ['spot', 'on-demand'], full: 'spot', expected: ['placement-failing'] },
      because: 'Spot is full',
    },
    { capacity: ['spot', 'on-demand'], full: 'on-demand', expected: [], because: 'it launches on Spot' },
    { capacity: ['on-demand'], full: 'spot', expected: [], because: 'nobody wants Spot any more' },
  ])('is told as $expected for $capacity if $full is full: $because', ({ capacity, full, expected }) => {
    const services = {
      'on-demand': aService({ desiredCount: full === 'on-demand' ? 1 : 0 }),
      spot: spotService(full === 'spot' ? 1 : 0),
    };
    const others = Object.values(services).filter((service) => service !== services[full]);
    const snapshot = aSnapshot({
      organizations: [anOrganization({ jobs: reading([aJob()]) })],
      services: [...others, { ...services[full], events: events(services[full].serviceName) }],
    });
    const [pool] = decide(snapshot, aConfig(aPool({ capacity, max: 3 }))).pools;
    const told = pool?.why.flatMap((reason) => (reason.code === 'on-demand-instead' ? [reason.because] : []));
    expect(told).toEqual(expected);
  });
});

describe('the tasks of one part that the other has no room for', () => {
  type Part = {
    readonly busy: number;
    /** RUNNING without a lease yet. */
    readonly starting?: number;
    readonly desired: number;
    /** ECS cannot place its tasks. */
    readonly isFull?: boolean;
  };
  type Taken = { readonly spot: Part; readonly max: number; readonly isRead?: boolean };

  /** The tasks that the part on demand adds for five jobs. */
  function added({ spot, max, isRead = true }: Taken): number {
    const numbers = (count: number, first: number) => Array.from({ length: count }, (_, at) => first + at);
    const busy = numbers(spot.busy, 1).map((index) => aTask({ ...onSpot, taskArn: arnOf(index) }));
    const starting = numbers(spot.starting ?? 0, 11).map((index) =>
      aTask({ ...onSpot, taskArn: arnOf(index), createdAt: ago(2 * MINUTE), startedAt: ago(MINUTE) }),
    );
    const daemons = numbers(spot.busy, 1).map((index) =>
      aDaemon({
        ...{ id: daemonId(`d${index}`), name: `cpu-${taskIdOf(index)}`, created_at: ago(HOUR) },
        ...{ status: 'busy', current_job: { id: jobId(`running-${index}`), status: 'running' } },
      }),
    );
    const jobs = [
      ...numbers(spot.busy, 1).map((index) =>
        aJob({ id: jobId(`running-${index}`), status: 'running', started_at: ago(MINUTE) }),
      ),
      ...numbers(5, 1).map((index) => aJob({ id: jobId(`pending-${index}`) })),
    ];
    const message = '(service Stack-spot) was unable to place a task. Reason: Capacity is unavailable.';
    const events = spot.isFull ? [{ createdAt: ago(30 * SECOND), message }] : [];
    const snapshot = aSnapshot({
      organizations: [
        anOrganization({
          jobs: isRead ? reading(jobs) : { ...reading(jobs), status: 'truncated' },
          daemons: reading(daemons),
        }),
      ],
      services: [aService(), { ...spotService(spot.desired), events }],
      tasks: [...busy, ...starting],
      protections: busy.map(({ taskArn }) => aLease({ taskArn })),
    });
    const config = aConfig(aPool({ capacity: ['spot', 'on-demand'], max }));
    const parts = decide(snapshot, config).pools[0]?.parts ?? [];
    const onDemand = parts.find(({ capacity }) => capacity === 'on-demand');
    return (onDemand?.desired.to ?? 0) - (onDemand?.desired.from ?? 0);
  }

  it.each<Taken & { readonly expected: number; readonly because: string }>([
    {
      ...{ spot: { busy: 1, desired: 3, isFull: true }, max: 4, expected: 3 },
      because: 'the two that Spot cannot place are given up',
    },
    {
      ...{ spot: { busy: 1, desired: 3, isFull: true }, max: 4, isRead: false, expected: 1 },
      because: 'with doubts none is given up, and ECS may still place them',
    },
    {
      ...{ spot: { busy: 1, starting: 1, desired: 3, isFull: true }, max: 4, expected: 1 },
      because: 'none is given up while a task runs without a lease',
    },
  ])('are counted: $expected on demand up to $max, because $because', ({ expected, ...given }) => {
    expect(added(given)).toBe(expected);
  });
});

it.each([
  { max: 3, added: 0, because: 'what is still to come on demand takes the room' },
  { max: 4, added: 1, because: 'it is counted once' },
])('adds $added on Spot up to $max: $because', ({ max, added }) => {
  const snapshot = aSnapshot({
    organizations: [
      anOrganization({ jobs: reading([1, 2, 3, 4].map((index) => aJob({ id: jobId(`job-${index}`) }))) }),
    ],
    services: [aService({ desiredCount: 3 }), spotService(0)],
    tasks: [],
  });
  const config = aConfig(aPool({ capacity: ['spot', 'on-demand'], max }));
  const parts = decide(snapshot, config).pools[0]?.parts ?? [];
  expect(parts.find(({ capacity }) => capacity === 'spot')?.desired.to).toBe(added);
});
