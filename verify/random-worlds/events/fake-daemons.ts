/**
 * Plans daemons that claim a task: somebody with a provisioner key of the organization starts a
 * daemon with the task's id or address in its name. It takes jobs, or only seems to.
 */
import { tagKey } from '../../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { ConnectionRefused } from '../../../simulator/base/daemon-connection.ts';
import { Daemon } from '../../../simulator/task/daemon.ts';
import { untilNextMs, type WorldContext } from '../world/world-context.ts';

export type FakeDaemons = {
  /** Number of daemons so far. */
  readonly count: () => number;
  /** The ids of the tasks that they claimed. */
  readonly imitated: ReadonlySet<string>;
  /** Ends all of them, each after its job, and plans no further one. */
  readonly end: () => void;
};

/** Plans all of them for a world on its timeline. */
export function planFakeDaemons(context: WorldContext): FakeDaemons {
  const { world, plan, random, print } = context;
  const ends = new Set<() => void>();
  const imitated = new Set<string>();
  let count = 0;
  let isOver = plan.fakeDaemonsAnHour === 0;
  const planNext = (): void => {
    if (isOver) return;
    world.timeline.after(untilNextMs(random, plan.fakeDaemonsAnHour), () => {
      const fake = isOver ? undefined : start(context);
      if (fake !== undefined) {
        count += 1;
        imitated.add(fake.taskId);
        ends.add(fake.end);
        world.timeline.after(random.whole(MINUTE_MS, 120 * MINUTE_MS), fake.end);
      }
      planNext();
    });
  };
  planNext();
  return {
    count: () => count,
    imitated,
    end: () => {
      isOver = true;
      print(`fake daemons end: ${ends.size}`);
      for (const end of ends) end();
    },
  };
}

type Fake = { readonly taskId: string; readonly end: () => void };

/** Starts one; undefined if there is no task, or coderd refuses it. */
function start({ world, fleet, random, print }: WorldContext): Fake | undefined {
  const { coderd, ecs, timeline } = world;
  const { id, serviceName, place } =
    random.pick(ecs.tasks().filter(({ state }) => state.lastStatus === 'RUNNING'))?.identity ?? {};
  const pool = fleet.pools.find(({ name }) => world.service(name).identity.name === serviceName);
  // a row with another key of the same tags would look like one with an old key when all ends
  const ofKey = random.pick(
    fleet.pools.filter(
      ({ name, organization, tags }) =>
        name === pool?.name || (organization === pool?.organization && tagKey(tags) !== tagKey(pool.tags)),
    ),
  );
  if (id === undefined || pool === undefined || ofKey === undefined) return undefined;
  const host = `ip-${place?.privateIp.replaceAll('.', '-')}`;
  const name = random.pick([`x-${id}`, `${pool.name}-${id}`, host]) ?? host;
  const takesJobs = random.next() < 0.5;
  const credential = { key: world.secrets.find(`coder/keys/${ofKey.name}`)?.value ?? '' };
  const version = coderd.version.text;
  print(`fake daemon: ${name} with the key of "${ofKey.name}"${takesJobs ? ', takes jobs' : ''}`);
  if (takesJobs) {
    const daemon = new Daemon({
      timeline,
      random,
      server: coderd,
      credential,
      name,
      version,
      connect: [0, 0],
      onExit: () => {},
      onKilledJob: () => {},
    });
    return { taskId: id, end: () => daemon.terminate() };
  }
  try {
    const connection = coderd.connect({ ...credential, name, version });
    return { taskId: id, end: () => connection.close() };
  } catch (error) {
    if (error instanceof ConnectionRefused) return undefined;
    throw error;
  }
}
