/** One look: observe, decide, act. A dry run is the same look with the act left out. */

import { decide } from '../decision/decide.ts';
import type { Config } from '../decision/model/config.ts';
import type { Action, Finding, Plan } from '../decision/model/plan.ts';
import type { Snapshot } from '../decision/model/snapshot.ts';
import { findingLines } from '../explain/finding-text.ts';
import { apply, type Failure, type Outcome } from './apply.ts';
import { observe } from './observe.ts';
import type { Ports } from './ports.ts';

export type LookResult = {
  readonly snapshot: Snapshot;
  readonly plan: Plan;
  readonly outcome: Outcome;
  /**
   * Everything that must make the invocation fail: what could not be read and what could not be
   * done.
   */
  readonly failures: readonly Failure[];
};

/** Looks and decides. */
export async function dryLook(
  ports: Ports,
  config: Config,
): Promise<{ readonly snapshot: Snapshot; readonly plan: Plan }> {
  const snapshot = await observe(ports, config);
  return { snapshot, plan: decide(snapshot, config) };
}

/**
 * Looks, decides and acts; looks again before it does what would stop tasks that have no guard.
 * Doesn't throw for what a pool, coderd or ECS does: see `failures`. Nothing more is done once
 * `signal` says that the invocation is over: what was seen will be old when the function is thawed.
 */
export async function lookAndAct(ports: Ports, config: Config, signal?: AbortSignal): Promise<LookResult> {
  const { snapshot, plan } = await dryLook(ports, config);
  const first = await apply(
    plan.actions.filter((action) => !needsConfirmation(action)),
    ports.ecs,
    signal,
  );
  const failed = new Set(first.failures.map(({ pool }) => pool));
  const open = plan.actions.filter((action) => needsConfirmation(action) && !failed.has(action.pool));
  const confirmed = signal?.aborted ? [] : await confirm(open, ports, config);
  const outcome = joined(first, await apply(confirmed, ports.ecs, signal));
  return {
    snapshot,
    plan,
    outcome,
    failures: [...findingFailures(plan.findings), ...refusals(outcome), ...outcome.failures],
  };
}

/** Tasks without a guard would be stopped by it: rung `confirm` (core/confirming.ts). */
function needsConfirmation(action: Action): boolean {
  return action.kind === 'set-desired' && action.stops !== undefined;
}

/** Those of the actions that one more look, just before, plans too. */
async function confirm(actions: readonly Action[], ports: Ports, config: Config): Promise<readonly Action[]> {
  if (actions.length === 0) return [];
  const again = await dryLook(ports, config);
  const planned = new Set(again.plan.actions.map((action) => JSON.stringify(action)));
  return actions.filter((action) => planned.has(JSON.stringify(action)));
}

function joined(first: Outcome, second: Outcome): Outcome {
  return {
    applied: [...first.applied, ...second.applied],
    refused: [...first.refused, ...second.refused],
    failures: [...first.failures, ...second.failures],
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

/** Without the forecast all else works, and pools keep their last daemon. */
const IS_FORECAST = /^(workspaces|templates)-/;

function isFailure({ code }: Finding): boolean {
  return FAILURES.has(code) || (/-(failed|forbidden|truncated)$/.test(code) && !IS_FORECAST.test(code));
}

/**
 * A task that is gone needs no asking, and a blocked ask is an ask to its guard
 * (docs/architecture.md, "The lease"); any other refusal is a mistake that somebody has to see.
 */
const HARMLESS: ReadonlySet<string> = new Set(['MISSING', 'DEPLOYMENT_BLOCKED']);

function refusals({ refused }: Outcome): readonly Failure[] {
  return refused
    .filter(({ reason }) => !HARMLESS.has(reason))
    .map(({ pool, task, reason, detail }) => ({
      message: `protecting task ${task} of pool "${pool}", to keep it or to ask it to leave: ECS refused with ${reason}${detail ? ` (${detail})` : ''}`,
    }));
}
