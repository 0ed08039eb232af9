/** What the rows of a pool's tasks tell together: which starts go on, and whether old tasks shut new ones out. */
import { expect, it } from 'vitest';
import type { Daemon, Protection, Task } from '../../../lambda/decision/model/snapshot.ts';
import { deriveSupply } from '../../../lambda/decision/supply/supply.ts';
import {
  aConfig,
  aDaemon,
  ago,
  aLease,
  anOrganization,
  aPool,
  arnOf,
  aSnapshot,
  aTask,
  daemonId,
  MINUTE,
  reading,
  SECOND,
  taskIdOf,
} from '../../support/parts.ts';

/** A task, its protection if it has one, and its daemon. */
type Seen = { readonly task: Task; readonly protection?: Protection; readonly daemon?: Daemon };

const ended = (index: number): Seen => ({
  task: aTask({
    ...{ taskArn: arnOf(index), lastStatus: 'STOPPED', desiredStatus: 'STOPPED' },
    ...{ stopCode: 'TaskFailedToStart', createdAt: ago(9 * MINUTE), stoppedAt: ago(index * MINUTE) },
  }),
});
const pending = (index: number, minutes: number): Seen => ({
  task: aTask({ taskArn: arnOf(index), lastStatus: 'PENDING', createdAt: ago(minutes * MINUTE) }),
});
/** Runs for so long, without a lease and without a daemon. */
const waiting = (index: number, ms: number): Seen => ({
  task: aTask({ taskArn: arnOf(index), createdAt: ago(ms + MINUTE), startedAt: ago(ms) }),
});
const leased = (index: number, given: Partial<Task> = {}): Seen => ({
  task: aTask({ taskArn: arnOf(index), ...given }),
  protection: aLease({ taskArn: arnOf(index) }),
  daemon: aDaemon({ id: daemonId(`d${index}`), name: `cpu-${taskIdOf(index)}` }),
});
/** With the protection that the autoscaler gives to tasks without a guard. */
const guardless = (index: number, given: Partial<Task> = {}): Seen => ({
  ...leased(index, given),
  protection: aLease({ taskArn: arnOf(index), expirationDate: ago(-30 * MINUTE) }),
});
/** Its daemon has the name of its host, and it has no protection. */
const hostNamed = (index: number): Seen => ({
  task: aTask({
    ...{ taskArn: arnOf(index), startedAt: ago(3 * MINUTE) },
    containers: [{ name: 'provisioner', networkInterfaces: [{ privateIpv4Address: '10.0.0.5' }] }],
  }),
  daemon: aDaemon({ id: daemonId('host'), name: 'ip-10-0-0-5', created_at: ago(2 * MINUTE) }),
});
/** Its daemon registered a minute ago. */
const registered = (index: number): Seen => {
  const { daemon = aDaemon(), ...seen } = leased(index, {
    createdAt: ago(2 * MINUTE),
    startedAt: ago(90 * SECOND),
  });
  return { ...seen, daemon: { ...daemon, created_at: ago(MINUTE) } };
};

const old = { taskDefinitionArn: 'cpu:0' };
const threeEnded = [ended(1), ended(2), ended(3)];

function viewOf(seen: readonly Seen[]) {
  const protections = seen.map(
    ({ task: { taskArn }, protection }) => protection ?? { taskArn, protectionEnabled: false },
  );
  const daemons = seen.flatMap(({ daemon }) => daemon ?? []);
  const organizations = [anOrganization({ daemons: reading(daemons) })];
  const tasks = seen.map(({ task }) => task);
  const [view] = deriveSupply(aSnapshot({ tasks, organizations, protections }), aConfig(aPool()));
  if (view === undefined) throw new Error('no pool');
  return view;
}

it.each<{ scenario: string; seen: readonly Seen[]; expected: readonly string[] }>([
  {
    scenario: 'gives up all but the oldest where starts keep failing',
    seen: [...threeEnded, pending(4, 1), pending(5, 2)],
    expected: ['left', 'starting'],
  },
  {
    scenario: 'keeps all after two failures',
    seen: [ended(1), ended(2), pending(4, 1), pending(5, 2)],
    expected: ['starting', 'starting'],
  },
  {
    scenario: 'keeps all where a task may start without a guard, which has its daemon at once',
    seen: [...threeEnded, pending(4, 1), pending(5, 2), guardless(6)],
    expected: ['starting', 'starting', 'leaving'],
  },
  {
    scenario: 'gives up all but the oldest if only old tasks have no guard',
    seen: [...threeEnded, pending(4, 1), pending(5, 2), guardless(6, old)],
    expected: ['left', 'starting', 'leaving'],
  },
  {
    scenario: 'keeps a task that waits for its lease',
    seen: [waiting(1, 3 * MINUTE)],
    expected: ['starting'],
  },
  {
    scenario: 'gives it up once a later task has its daemon',
    seen: [waiting(1, 3 * MINUTE), registered(2)],
    expected: ['left', 'working'],
  },
  {
    scenario: 'keeps a task that began later than that one',
    seen: [waiting(1, 2 * MINUTE), { ...leased(2), daemon: aDaemon({ name: `cpu-${taskIdOf(2)}` }) }],
    expected: ['starting', 'working'],
  },
])('$scenario', ({ seen, expected }) => {
  expect(viewOf(seen).tasks.map(({ state }) => state)).toEqual(expected);
});

it.each<{ scenario: string; seen: readonly Seen[]; isShutOut: boolean }>([
  {
    scenario: 'old tasks hold leases, and a new one has waited for its own',
    seen: [leased(1, old), waiting(2, 2 * MINUTE)],
    isShutOut: true,
  },
  { scenario: 'it has not waited for long', seen: [leased(1, old), waiting(2, MINUTE)], isShutOut: false },
  { scenario: 'no old task holds one', seen: [waiting(2, 2 * MINUTE)], isShutOut: false },
  {
    scenario: 'another new task has one',
    seen: [leased(1, old), waiting(2, 2 * MINUTE), leased(3)],
    isShutOut: false,
  },
  {
    scenario: 'new tasks may start without a guard',
    seen: [leased(1, old), waiting(2, 2 * MINUTE), hostNamed(3)],
    isShutOut: false,
  },
])('tells that old tasks shut new ones out ($isShutOut) if $scenario', ({ seen, isShutOut }) => {
  expect(viewOf(seen).failing.isShutOut).toBe(isShutOut);
});

it('takes an offline row with the name of a task for a rival only if the task has no lease', () => {
  const rowsOf = (given: Seen) => {
    const { rivals = [] } = viewOf([given, { ...given, daemon: gone }]).tasks[0] ?? {};
    return rivals.length;
  };
  const gone = aDaemon({ id: daemonId('gone'), name: `cpu-${taskIdOf(1)}`, last_seen_at: ago(5 * MINUTE) });
  expect(rowsOf(leased(1))).toBe(0);
  expect(rowsOf({ ...leased(1), protection: aLease({ expirationDate: ago(-23 * 60 * MINUTE) }) })).toBe(1);
});
