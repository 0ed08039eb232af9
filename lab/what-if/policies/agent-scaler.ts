/** Buildkite's agent scaler as the Elastic CI Stack runs it: it only adds; idle agents exit themselves. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Policy, PolicyContext } from './policy.ts';

type AgentScalerSettings = {
  /** `ScaleInIdlePeriod`, in seconds: an agent that is idle for longer exits and removes its instance. */
  readonly idleS: number;
  /** `InstanceBuffer`, in percent of the pool's `max`: extra instances while there are jobs. */
  readonly bufferPercent: number;
  readonly scaleOutFactor: number;
  readonly scaleOutCooldownS: number;
  /** `MinSize`, in percent of the pool's `max`. */
  readonly minPercent: number;
};

type Group = {
  readonly name: string;
  readonly minSize: number;
  readonly maxSize: number;
  readonly instanceBuffer: number;
};

/** The shortest interval between two runs of the scaler, and between two pings of an agent. */
const LOOK_MS = 10_000;
const PING_MS = 10_000;

export const AGENT_SCALER: Policy<AgentScalerSettings> = {
  id: 'agent-scaler',
  title: () => "Buildkite's agent scaler",
  source: {
    title: 'buildkite-agent-scaler and the Elastic CI Stack for AWS',
    url: 'https://github.com/buildkite/buildkite-agent-scaler',
  },
  canKill: false,
  grid: () => GRID,
  start: (context, settings) => {
    for (const pool of context.config.pools) {
      const group = groupOf(pool, settings);
      const scaler = new Scaler(context, group, settings);
      context.world.timeline.every(LOOK_MS, () => scaler.look(), 0);
      context.world.timeline.every(PING_MS, () => endIdle(context, group, settings));
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
/** The default of the scaler itself, without the stack. */
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

/** `Run` of scaler.go with the stack's `DISABLE_SCALE_IN`. A run ends if it cannot read its metrics. */
class Scaler {
  readonly #context: PolicyContext;
  readonly #group: Group;
  readonly #settings: AgentScalerSettings;
  #lastScaleOutAt: EpochMs | undefined;

  constructor(context: PolicyContext, group: Group, settings: AgentScalerSettings) {
    this.#context = context;
    this.#group = group;
    this.#settings = settings;
  }

  look(): void {
    const { count, isCoderdDown, demandOf, world } = this.#context;
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

  /** Adds what the desired count lacks. If all of it already boots, the cooldown still begins again. */
  #scaleOut(wanted: number, desired: number): void {
    const now = this.#context.world.timeline.now();
    const { scaleOutCooldownS, scaleOutFactor } = this.#settings;
    const last = this.#lastScaleOutAt;
    if (last !== undefined && now - last < scaleOutCooldownS * 1000) return;
    this.#lastScaleOutAt = now;
    const added = Math.ceil((wanted - desired) * scaleOutFactor);
    if (added > 0)
      this.#context.setDesired(
        this.#group.name,
        desired + added,
        `${wanted} instances for the jobs and the buffer`,
      );
  }
}

/** ScalingCalculator.DesiredCount with one agent per instance, limited as in `Run`. */
export function instancesFor(
  jobs: number,
  { instanceBuffer, minSize, maxSize }: Omit<Group, 'name'>,
): number {
  return Math.max(minSize, Math.min(maxSize, jobs + Math.min(jobs, instanceBuffer)));
}

/** Each idle agent exits by itself, while the group is larger than its minimum size. */
function endIdle(context: PolicyContext, { name, minSize }: Group, { idleS }: AgentScalerSettings): void {
  const { timeline, ecs } = context.world;
  const service = context.world.service(name);
  for (const task of [...service.tasks]) {
    const { desiredCount } = service.state;
    const idleMs = timeline.now() - (task.idleSince ?? timeline.now());
    if (idleMs < idleS * 1000 || desiredCount <= minSize) continue;
    context.setDesired(
      name,
      desiredCount - 1,
      `an agent was idle for ${idleS} s and exited with its instance`,
    );
    ecs.endTask(task.identity.id);
  }
}
