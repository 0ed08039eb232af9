/** One tick: look, decide, act. A dry run is the same tick with the act left out. */
import type { Config } from '../core/config.ts';
import { decide } from '../core/decide.ts';
import type { Finding, Plan } from '../core/plan.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { apply, type Failure, type Outcome } from './apply.ts';
import { observe } from './observe.ts';
import type { Ports } from './ports.ts';
import { findingLines } from './text.ts';

export type Tick = {
  readonly snapshot: Snapshot;
  readonly plan: Plan;
  readonly outcome: Outcome;
  /** Everything that must make the invocation fail: what could not be read and what could not be done. */
  readonly failures: readonly Failure[];
};

/** Looks and decides. */
export async function look(
  ports: Ports,
  config: Config,
): Promise<{ readonly snapshot: Snapshot; readonly plan: Plan }> {
  const snapshot = await observe(ports, config);
  return { snapshot, plan: decide(snapshot, config) };
}

/**
 * Looks, decides and acts. Doesn't throw for what a pool, coderd or ECS does: see `failures`. Nothing more is done once
 * `signal` says that the invocation is over: what was seen will be old when the function is thawed.
 */
export async function tick(ports: Ports, config: Config, signal?: AbortSignal): Promise<Tick> {
  const { snapshot, plan } = await look(ports, config);
  const outcome = await apply(plan.actions, ports.ecs, signal);
  return {
    snapshot,
    plan,
    outcome,
    failures: [...findingFailures(plan.findings), ...refusals(outcome), ...outcome.failures],
  };
}

/** Findings that mean that a pool is not looked after. */
function findingFailures(findings: readonly Finding[]): readonly Failure[] {
  return findingLines(findings.filter(isFailure)).map((message) => ({ message }));
}

const FAILURES: ReadonlySet<Finding['code']> = new Set([
  'service-missing',
  'service-ambiguous',
  'organization-unknown',
  'server-too-old',
]);

function isFailure({ code }: Finding): boolean {
  return FAILURES.has(code) || /-(failed|forbidden|truncated)$/.test(code);
}

/**
 * A task that is gone needs no asking, and a blocked ask is an ask to its guard (design.md, "The lease");
 * any other refusal is a mistake that somebody has to see.
 */
const HARMLESS: ReadonlySet<string> = new Set(['MISSING', 'DEPLOYMENT_BLOCKED']);

function refusals({ refused }: Outcome): readonly Failure[] {
  return refused
    .filter(({ reason }) => !HARMLESS.has(reason))
    .map(({ pool, task, reason, detail }) => ({
      message: `asking task ${task} of pool "${pool}" to leave: ECS refused with ${reason}${detail ? ` (${detail})` : ''}`,
    }));
}
