import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Random } from '../base/random.ts';
import type { Timeline } from '../base/timeline.ts';
import { type AgentAnswer, hasBoundRole, type TaskAgent } from './parts/container.ts';
import type { History } from './parts/history.ts';
import type { Latencies } from './parts/latencies.ts';
import { MAX_MINUTES, type ProtectionFailure, type WrongEcs } from './protection.ts';
import { type EcsTask, expiryOf, type Protection } from './task.ts';

const UNREACHABLE: AgentAnswer = { kind: 'error', code: 'RequestCanceled' };
const DENIED: AgentAnswer = { kind: 'error', code: 'AccessDeniedException' };
const THROTTLED: AgentAnswer = { kind: 'error', code: 'ThrottlingException' };

/** Faults of single calls to agent endpoints, as shares of all calls (0 to 1). */
export type AgentFaults = {
  /** Share of calls that fail without taking effect. */
  readonly failing: number;
  /** Share of calls that take effect but answer with an error. */
  readonly losing: number;
};

type ProtectionServer = {
  readonly random: Random;
  readonly timeline: Timeline;
  readonly latencies: Pick<Latencies, 'lease'>;
  readonly agentFaults: AgentFaults;
  readonly agentsDown: boolean;
  readonly wrong: WrongEcs | undefined;
  now(): EpochMs;
  seen<T>(history: History<T>): T | undefined;
  admits(operation: 'task-protection'): boolean;
  protect(task: string, minutes: number): ProtectionFailure | undefined;
  unprotect(task: string): ProtectionFailure | undefined;
};

/**
 * The agent endpoint of one task. A call takes effect halfway through its latency and is answered at the end: if the
 * endpoint goes down in between, the task has a lease that its guard does not know of.
 */
export function taskAgent(model: ProtectionServer, task: EcsTask): TaskAgent {
  const call = (act: () => AgentAnswer, onAnswer: (answer: AgentAnswer) => void): void => {
    const halfMs = Math.round(model.random.whole(...model.latencies.lease) / 2);
    model.timeline.after(halfMs, () => {
      const { failing, losing } = model.agentFaults;
      const answer = happens(model, failing) ? UNREACHABLE : reach(model, act);
      const isLost = happens(model, losing);
      model.timeline.after(halfMs, () => onAnswer(model.agentsDown || isLost ? UNREACHABLE : answer));
    });
  };
  const { id } = task.identity;
  const write = (failure: ProtectionFailure | undefined): AgentAnswer =>
    failure === undefined ? answerOf(task.protections.latest) : { kind: 'failure', reason: failure };
  const isRefused = (): boolean =>
    model.wrong === 'lease' || (model.wrong === 'lease-renewal' && task.isProtected);
  const isDenied = (): boolean =>
    model.wrong === 'bound-role' && hasBoundRole(task.identity.definition.template);
  const change = (act: () => ProtectionFailure | undefined): AgentAnswer =>
    isDenied() ? DENIED : write(act());
  return {
    protect: (minutes, onAnswer) =>
      call(() => (isRefused() ? UNREACHABLE : change(() => model.protect(id, minutes))), onAnswer),
    release: (onAnswer) => call(() => change(() => model.unprotect(id)), onAnswer),
    look: (onAnswer) =>
      call(() => {
        const seen = answerOf(model.seen(task.protections));
        if (model.wrong !== 'request' || seen.kind !== 'protection' || !seen.enabled) return seen;
        return { ...seen, expiresAt: expiryOf(model.now(), MAX_MINUTES) };
      }, onAnswer),
    desiredStatus: () => (task.isToldToStop ? 'STOPPED' : 'RUNNING'),
  };
}

/** Draws only if the share is above 0, so a world without faults stays the same. */
const happens = (model: ProtectionServer, share: number): boolean => share > 0 && model.random.next() < share;

function reach(model: ProtectionServer, act: () => AgentAnswer): AgentAnswer {
  if (model.agentsDown) return UNREACHABLE;
  return model.admits('task-protection') ? act() : THROTTLED;
}

function answerOf(protection: Protection | undefined): AgentAnswer {
  if (protection === undefined) return { kind: 'failure', reason: 'MISSING' };
  return { kind: 'protection', enabled: protection.enabled, expiresAt: protection.expiresAt };
}
