/** Daemons that claim a task: somebody's, with its id or address in the name. They may take jobs. */
import { tagKey } from '../../../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { ConnectionRefused } from '../../../world/base/daemon-connection.ts';
import type { Random } from '../../../world/base/random.ts';
import { Daemon } from '../../../world/task/daemon.ts';
import type { WorldEvents } from '../world/world-events.ts';

/** Plans all of them for a world. At the end each ends after its job. */
export function planFakeDaemons(events: WorldEvents): void {
  const { world, plan, counts, imitated, print } = events;
  const random = events.source(31);
  const ends = new Set<() => void>();
  events.repeat(random, plan.fakeDaemonsAnHour, () => {
    const fake = start(events, random);
    if (fake === undefined) return;
    counts.fakeDaemons += 1;
    imitated.add(fake.taskId);
    ends.add(fake.end);
    world.timeline.after(random.whole(MINUTE_MS, 120 * MINUTE_MS), fake.end);
  });
  events.atEnd(() => {
    print(`fake daemons end: ${ends.size}`);
    for (const end of ends) end();
  });
}

type Fake = { readonly taskId: string; readonly end: () => void };

/** Starts one; undefined if there is no task, or coderd refuses it. */
function start(events: WorldEvents, random: Random): Fake | undefined {
  const { world, fleet, print } = events;
  const { coderd, timeline } = world;
  const { id, serviceName, place } = events.runningTask(random)?.identity ?? {};
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
    const ignored = { onExit: () => {}, onKilledJob: () => {} };
    const own = { credential, name, version, connect: [0, 0], ...ignored } as const;
    const daemon = new Daemon({ timeline, random, server: coderd, ...own });
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
