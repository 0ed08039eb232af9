/** Buildkite's agent scaler as its Elastic CI Stack runs it: it only ever adds; what is idle for long enough ends itself. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Policy, Scene } from './policy.ts';

export type AgentScalerSettings = {
  /** `ScaleInIdlePeriod`, seconds: an agent that is idle for longer ends and takes its instance along. */
  readonly idleS: number;
  /** `InstanceBuffer`, in percent of the pool's `max`: instances on top of those that the jobs need, while there are jobs. */
  readonly bufferPercent: number;
  /** Of what is missing. */
  readonly scaleOutFactor: number;
  /** Seconds from one scale-out to the next. */
  readonly scaleOutCooldownS: number;
  /** `MinSize`, in percent of the pool's `max`. */
  readonly minPercent: number;
};

/** The group of instances that stands for a pool. */
type Group = {
  readonly name: string;
  readonly minSize: number;
  readonly maxSize: number;
  readonly instanceBuffer: number;
};

/** The least pause between two looks of the scaler, and between two pings of an agent. */
const LOOK_MS = 10_000;
const PING_MS = 10_000;

export const AGENT_SCALER: Policy<AgentScalerSettings> = {
  id: 'agent-scaler',
  title: () => "Buildkite's agent scaler",
  source: {
    title: 'buildkite-agent-scaler and the Elastic CI Stack for AWS',
    url: 'https://github.com/buildkite/buildkite-agent-scaler',
  },
  rule:
    'Every 10 s: as many instances as jobs wait and run, and a buffer; where fewer run, the missing ones times a factor are added, once in ' +
    '300 s. It never scales in: an agent that is idle for 600 s ends, and its instance goes with the desired count, so no build is ' +
    'killed. Here: an instance is a task with one daemon, and a task can do what on ECS none can: go together with its place.',
  canKill: false,
  grid: () => GRID,
  start: (scene, settings) => {
    for (const pool of scene.config.pools) {
      const group = groupOf(pool, settings);
      const scaler = new Scaler(scene, group, settings);
      scene.world.timeline.every(LOOK_MS, () => scaler.look(), 0);
      scene.world.timeline.every(PING_MS, () => endIdle(scene, group, settings));
    }
  },
};

const STACK: AgentScalerSettings = {
  idleS: 600,
  bufferPercent: 0,
  scaleOutFactor: 1,
  scaleOutCooldownS: 300,
  minPercent: 0,
};
/** The scaler's own default, without the stack. */
const NO_COOLDOWN: AgentScalerSettings = { ...STACK, scaleOutCooldownS: 0 };

const GRID: readonly AgentScalerSettings[] = [
  STACK,
  NO_COOLDOWN,
  { ...NO_COOLDOWN, idleS: 120 },
  { ...NO_COOLDOWN, idleS: 1800 },
  { ...NO_COOLDOWN, minPercent: 1 },
  { ...NO_COOLDOWN, minPercent: 1, scaleOutFactor: 1.5 },
  { ...NO_COOLDOWN, minPercent: 1, idleS: 1800 },
  { ...NO_COOLDOWN, minPercent: 1, bufferPercent: 5, idleS: 300 },
  { ...NO_COOLDOWN, minPercent: 5, bufferPercent: 5, idleS: 1800 },
  { ...NO_COOLDOWN, minPercent: 10, bufferPercent: 10, idleS: 1800 },
  { ...NO_COOLDOWN, minPercent: 20, bufferPercent: 20, idleS: 1800 },
  { ...NO_COOLDOWN, minPercent: 20, bufferPercent: 20, idleS: 3600 },
];

function groupOf(
  { name, max }: { readonly name: string; readonly max: number },
  { minPercent, bufferPercent }: AgentScalerSettings,
): Group {
  const tasksOf = (percent: number): number => Math.ceil((percent * max) / 100);
  return { name, minSize: tasksOf(minPercent), maxSize: max, instanceBuffer: tasksOf(bufferPercent) };
}

/** `Run` of scaler.go with the stack's `DISABLE_SCALE_IN`; metrics that cannot be read end the look. */
class Scaler {
  readonly #scene: Scene;
  readonly #group: Group;
  readonly #settings: AgentScalerSettings;
  #lastScaleOutAt: EpochMs | undefined;

  constructor(scene: Scene, group: Group, settings: AgentScalerSettings) {
    this.#scene = scene;
    this.#group = group;
    this.#settings = settings;
  }

  look(): void {
    const { count, isCoderdDown, demandOf, world } = this.#scene;
    const { name } = this.#group;
    count({ ticks: 1, coderd: 1 });
    if (isCoderdDown()) return;
    count({ ecs: 1 });
    const { state, tasks } = world.service(name);
    const inService = [...tasks].filter((task) => task.state.lastStatus === 'RUNNING').length;
    const { pending, running } = demandOf(name);
    const wanted = instancesFor(pending + running, this.#group);
    if (wanted > (inService || state.desiredCount)) this.#scaleOut(wanted, state.desiredCount);
  }

  /** What is missing of the desired count, not of what runs: where all of it boots already, the cooldown begins anew all the same. */
  #scaleOut(wanted: number, desired: number): void {
    const now = this.#scene.world.timeline.now();
    const { scaleOutCooldownS, scaleOutFactor } = this.#settings;
    const last = this.#lastScaleOutAt;
    if (last !== undefined && now - last < scaleOutCooldownS * 1000) return;
    this.#lastScaleOutAt = now;
    const added = Math.ceil((wanted - desired) * scaleOutFactor);
    if (added > 0)
      this.#scene.setDesired(
        this.#group.name,
        desired + added,
        `${wanted} instances for the jobs and the buffer`,
      );
  }
}

/** ScalingCalculator.DesiredCount, with one agent an instance, and what `Run` makes of it. */
export function instancesFor(
  jobs: number,
  { instanceBuffer, minSize, maxSize }: Omit<Group, 'name'>,
): number {
  return Math.max(minSize, Math.min(maxSize, jobs + Math.min(jobs, instanceBuffer)));
}

/** Each agent for itself, as long as the group has more than its least size. */
function endIdle(scene: Scene, { name, minSize }: Group, { idleS }: AgentScalerSettings): void {
  const { timeline, ecs } = scene.world;
  const service = scene.world.service(name);
  for (const task of [...service.tasks]) {
    const { desiredCount } = service.state;
    const idleMs = timeline.now() - (task.idleSince ?? timeline.now());
    if (idleMs < idleS * 1000 || desiredCount <= minSize) continue;
    scene.setDesired(name, desiredCount - 1, `an agent was idle for ${idleS} s and went with its instance`);
    ecs.endTask(task.identity.id);
  }
}
