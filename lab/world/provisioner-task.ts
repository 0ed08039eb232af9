import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { type AcquiredJob, type DaemonServer, listening } from './base/daemon-connection.ts';
import type { Random } from './base/random.ts';
import type { Timeline } from './base/timeline.ts';
import type { Container, ContainerHost, StartContainer } from './ecs/parts/container.ts';
import type { Latencies } from './ecs/parts/latencies.ts';
import { Daemon } from './task/daemon.ts';
import { Guard } from './task/guard.ts';
import { readCredential, type Variables } from './task/start-variables.ts';

export type ProvisionerTaskOptions = {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly server: DaemonServer;
  readonly latencies: Pick<Latencies, 'connect'>;
  readonly pool: string;
  /** Returns the variables that coder reads, with their secrets, when a container starts. */
  readonly variables: () => Variables;
  readonly version: string;
  readonly onStart?: ((taskId: string, guard: Guard) => void) | undefined;
  readonly onEnd?: ((taskId: string) => void) | undefined;
  /** Gets the lines of the guard's log. */
  readonly onLog?: ((line: string) => void) | undefined;
  readonly onAcquired?: ((job: AcquiredJob, taskId: string) => void) | undefined;
  readonly onKilledJob?: ((job: AcquiredJob, taskId: string) => void) | undefined;
  /** Called when a guard's daemon has exited after it was told to, not because the task was stopped. */
  readonly onLeft?: ((taskId: string, left: Left) => void) | undefined;
};

type Left = {
  /** When its daemon last became idle, or was started. */
  readonly idleSince: EpochMs;
};

/** The image of a provisioner task: the guard, which starts the daemon. */
export function provisionerTask(options: ProvisionerTaskOptions): StartContainer {
  const { timeline, random, pool } = options;
  return (host) => {
    const process = daemonProcess(options, host);
    const guard: Guard = new Guard({
      timeline,
      random,
      pool,
      host: {
        ...host,
        exit: (code) => {
          host.exit(code);
          // The end of a container's first process ends all other processes.
          guard.daemon?.kill();
        },
      },
      startDaemon: (name, onExit) =>
        process.start(name, (code) => {
          onExit(code);
          if (guard.phase === 'left') options.onLeft?.(host.taskId, { idleSince: process.idleSince() });
        }),
      onEnd: () => options.onEnd?.(host.taskId),
      onLog: options.onLog,
    });
    options.onStart?.(host.taskId, guard);
    return guarded(guard);
  };
}

/** Without a guard: the daemon is the first process, has its host's name, and nothing protects the task. */
export function bareTask(options: ProvisionerTaskOptions): StartContainer {
  return (host) => {
    const process = daemonProcess(options, host);
    const daemon = process.start(`ip-${host.privateIp.replaceAll('.', '-')}`, host.exit);
    return {
      terminate: () => daemon.terminate(),
      kill: () => daemon.kill(),
      isBusy: () => daemon.isBusy,
      isWaiting: () => !daemon.isBusy,
      idleSince: () => (daemon.isBusy ? undefined : process.idleSince()),
    };
  };
}

function guarded(guard: Guard): Container {
  return {
    terminate: () => guard.terminate(),
    kill: () => guard.kill(),
    isBusy: () => guard.isBusy(),
    isWaiting: () => guard.phase === 'leasing' || guard.phase === 'working',
  };
}

function daemonProcess(options: ProvisionerTaskOptions, { taskId }: ContainerHost) {
  const { timeline, random, version, onAcquired = () => {}, onKilledJob = () => {} } = options;
  const credential = readCredential(options.variables());
  let idleSince = timeline.now();
  const becameIdle = (): void => {
    idleSince = timeline.now();
  };
  const server = listening(options.server, {
    onConnect: becameIdle,
    onJob: (job) => onAcquired(job, taskId),
    onComplete: becameIdle,
  });
  return {
    idleSince: () => idleSince,
    start: (name: string, onExit: (code: number) => void): Daemon =>
      new Daemon({
        timeline,
        random,
        server,
        credential,
        name,
        version,
        onExit,
        connect: options.latencies.connect,
        onKilledJob: (job) => onKilledJob(job, taskId),
      }),
  };
}
