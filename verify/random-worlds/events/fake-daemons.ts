/**
 * Plans daemons that claim a task: somebody with a provisioner key of the organization starts a
 * daemon with the task's id or address in its name. It takes jobs, or only seems to.
 */
import { ConnectionRefused } from '../../../simulator/base/daemon-connection.ts';
import { Daemon } from '../../../simulator/task/daemon.ts';
import { untilNextMs, type WorldContext } from '../world/world-context.ts';

export type FakeDaemons = {
  /** Number of daemons so far. */
  readonly count: () => number;
  /** Ends all of them, each after its job, and plans no further one. */
  readonly end: () => void;
};

const MINUTE_MS = 60_000;

/** Plans all of them for a world on its timeline. */
export function planFakeDaemons(context: WorldContext): FakeDaemons {
  const { world, plan, random, print } = context;
  const ends = new Set<() => void>();
  let count = 0;
  let isOver = plan.fakeDaemonsAnHour === 0;
  const planNext = (): void => {
    if (isOver) return;
    world.timeline.after(untilNextMs(random, plan.fakeDaemonsAnHour), () => {
      const end = isOver ? undefined : start(context);
      if (end !== undefined) {
        count += 1;
        ends.add(end);
        world.timeline.after(random.whole(MINUTE_MS, 120 * MINUTE_MS), end);
      }
      planNext();
    });
  };
  planNext();
  return {
    count: () => count,
    end: () => {
      isOver = true;
      print(`fake daemons end: ${ends.size}`);
      for (const end of ends) end();
    },
  };
}

/** Starts one. Returns what ends it; undefined if there is no task, or coderd refuses it. */
function start({ world, fleet, random, print }: WorldContext): (() => void) | undefined {
  const { coderd, ecs, timeline } = world;
  const { id, serviceName, place } =
    random.pick(ecs.tasks().filter(({ state }) => state.lastStatus === 'RUNNING'))?.identity ?? {};
  const pool = fleet.pools.find(({ name }) => world.service(name).identity.name === serviceName);
  const ofKey = random.pick(fleet.pools.filter(({ organization }) => organization === pool?.organization));
  if (id === undefined || pool === undefined || ofKey === undefined) return undefined;
  const host = `ip-${place?.privateIp.replaceAll('.', '-')}`;
  const name = random.pick([`x-${id}`, `${pool.name}-${id}`, host]) ?? host;
  const takesJobs = random.next() < 0.5;
  const credential = { key: world.secrets.find(`coder/keys/${ofKey.name}`)?.value ?? '' };
  const version = coderd.version.text;
  print(`fake daemon: ${name} with the key of "${ofKey.name}"${takesJobs ? ', takes jobs' : ''}`);
  if (takesJobs) {
    const daemon = new Daemon({
      ...{ timeline, random, server: coderd, credential, name, version, connect: [0, 0] },
      onExit: () => {},
      onKilledJob: () => {},
    });
    return () => daemon.terminate();
  }
  try {
    const connection = coderd.connect({ ...credential, name, version });
    return () => connection.close();
  } catch (error) {
    if (error instanceof ConnectionRefused) return undefined;
    throw error;
  }
}
