/** One look: observe, decide and apply. A dry run only observes and decides. */
import { type Deliberation, deliberate } from '../decision/decide.ts';
import type { Config } from '../decision/model/config.ts';
import { type Finding, type Plan, READING_NAMES } from '../decision/model/plan.ts';
import type { PromisedPlan, Promises } from '../decision/model/promise.ts';
import type { Snapshot } from '../decision/model/snapshot.ts';
import { withPromises } from '../decision/promise/promise.ts';
import { findingLines } from '../explain/finding-text.ts';
import { apply, type Failure, type Outcome } from './apply.ts';
import { observe } from './observe.ts';
import type { Ports, ProcessMemory } from './ports.ts';
import { TimeLimit } from './time-limit.ts';

export type LookResult = {
  readonly snapshot: Snapshot;
  readonly plan: Plan;
  /** When each pending job will start. Computed when asked for: a look itself needs none. */
  readonly promises: () => Promises;
  readonly outcome: Outcome;
  /** Everything that fails the invocation: unreadable lists and failed actions. */
  readonly failures: readonly Failure[];
};

async function observeAndDecide(
  ports: Ports,
  config: Config,
  {
    memory,
    signal,
  }: { readonly memory?: ProcessMemory | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Decided> {
  const limit = new TimeLimit({ until: signal, startTimer: ports.clock.startTimer });
  const [observed] = await Promise.all([observe(ports, config, limit), ports.record?.ready(memory?.isSole)]);
  ports.record?.restore(observed.takenAt);
  const snapshot = {
    ...observed,
    ...(memory && { ecs: withCounts(observed, memory) }),
    stock: ports.stock?.learned(),
    canHandOver: ports.relay?.isOpen(ports.clock.now()),
    remembered: memory?.recall(observed.takenAt),
  };
  return { snapshot, deliberation: deliberate(snapshot, config) };
}

/** The services with what this process knows of their counts. */
function withCounts({ ecs, clock, takenAt }: Snapshot, { counts, isSole }: ProcessMemory): Snapshot['ecs'] {
  const look = { now: clock ?? takenAt, isSole };
  const items = ecs.services.items.map((service) => counts.compare(service, look));
  return { ...ecs, services: { ...ecs.services, items } };
}

type Decided = { readonly snapshot: Snapshot; readonly deliberation: Deliberation };

/** A dry look for a person: its plan also says when each pending job will start. */
export async function promisedLook(
  ports: Ports,
  config: Config,
  signal?: AbortSignal,
): Promise<PromisedPlan> {
  const { snapshot, deliberation } = await observeAndDecide(ports, config, { signal });
  if (ports.stock === undefined) return withPromises(deliberation, snapshot);
  // the process may have just started, and a person wants the plan of a process that has learned
  ports.stock.learn(deliberation.stockSets, snapshot, Number.POSITIVE_INFINITY);
  const learned = { ...snapshot, stock: ports.stock.learned() };
  return withPromises(deliberate(learned, config), learned);
}

/**
 * Observes, decides and applies. Does not throw for failures of a pool, coderd or ECS: they are in `failures`.
 * Does nothing more once `signal` aborts, because the readings are old when Lambda thaws the
 * function.
 */
export async function lookAndAct(ports: Ports, config: Config, signal?: AbortSignal): Promise<LookResult> {
  const { snapshot, deliberation } = await observeAndDecide(ports, config, { memory: ports.memory, signal });
  const { plan } = deliberation;
  const outcome = await apply(plan.actions, ports.ecs, {
    signal,
    willSet: (service, count) => ports.memory?.counts.willSet(service, count),
  });
  for (const action of outcome.applied)
    if (action.kind === 'set-desired') ports.memory?.counts.didSet(action.service, action.to);
  ports.stock?.learn(deliberation.stockSets, snapshot);
  const { mismatches, heartbeats, memories: pools } = deliberation;
  const { refused } = outcome;
  ports.memory?.add({ now: snapshot.takenAt, mismatches, heartbeats, refused, pools });
  return {
    snapshot,
    plan,
    promises: () => withPromises(deliberation, snapshot),
    outcome,
    failures: [...findingFailures(plan.findings), ...refusals(outcome), ...outcome.failures],
  };
}

function findingFailures(findings: readonly Finding[]): readonly Failure[] {
  return findingLines(findings.filter(({ code }) => FAILURES.has(code))).map((message) => ({ message }));
}

/**
 * Findings that mean that the autoscaler cannot manage a pool. Without the forecast everything else
 * works, and without the secrets' metadata a changed secret replaces no task: neither is a failure.
 */
const FAILURES: ReadonlySet<Finding['code']> = new Set([
  'service-missing',
  'service-ambiguous',
  'organization-unknown',
  'server-too-old',
  ...READING_NAMES.flatMap((name) => [`${name}-failed`, `${name}-forbidden`, `${name}-truncated`] as const),
]);

/**
 * A task that is gone needs no drain request, and a blocked drain request still reaches the guard
 * (docs/internals/architecture.md, "The lease"). Any other refusal needs a person.
 */
const HARMLESS: ReadonlySet<string> = new Set(['MISSING', 'DEPLOYMENT_BLOCKED']);

function refusals({ refused }: Outcome): readonly Failure[] {
  return refused
    .filter(({ reason }) => !HARMLESS.has(reason))
    .map(({ pool, task, reason, detail }) => ({
      message: `changing the protection of task ${task} of pool "${pool}" (to keep or to drain it): ECS refused with ${reason}${detail ? ` (${detail})` : ''}`,
    }));
}
