import type { AcquiredJob, DaemonServer } from './daemon-connection.ts';
import type { StartContainer } from './ecs/container.ts';
import type { Latencies } from './ecs/latencies.ts';
import type { Random } from './random.ts';
import { Daemon } from './task/daemon.ts';
import { Guard } from './task/guard.ts';
import type { Timeline } from './timeline.ts';

export type ProvisionerTaskOptions = {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly server: DaemonServer;
  readonly latencies: Pick<Latencies, 'connect'>;
  readonly pool: string;
  /** The provisioner key, as it is injected when a container starts. */
  readonly key: () => string;
  /** Of the image. */
  readonly version: string;
  readonly onStart?: ((taskId: string, guard: Guard) => void) | undefined;
  readonly onEnd?: ((taskId: string) => void) | undefined;
  readonly onKilledJob?: ((job: AcquiredJob) => void) | undefined;
};

/** The image of a provisioner task: the guard, and the daemon that it starts. */
export function provisionerTask(options: ProvisionerTaskOptions): StartContainer {
  const { timeline, random, server, pool, version, latencies, onKilledJob = () => {} } = options;
  return (host) => {
    const key = options.key();
    const { connect } = latencies;
    const startDaemon = (name: string, onExit: (code: number) => void) =>
      new Daemon({ timeline, random, server, connect, key, name, version, onExit, onKilledJob });
    const guard = new Guard({
      timeline,
      random,
      host,
      pool,
      startDaemon,
      onEnd: () => options.onEnd?.(host.taskId),
    });
    options.onStart?.(host.taskId, guard);
    return guard;
  };
}
