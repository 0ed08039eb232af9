/** Collects the results of a world's looks, and the problems: actions that a look must not take. */
import { createHash } from 'node:crypto';
import { lastPart, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { type OrphanEvent, orphansOf } from '../../../lambda/look/orphan-event.ts';
import type { World } from '../../world/world.ts';
import type { LookReport } from './settled.ts';
import { isFalseRoll, pauseViolations } from './world/forbidden-actions.ts';

type LookLogOptions = {
  readonly world: World;
  readonly readLagMs: number | undefined;
  readonly print: ((line: string) => void) | undefined;
};

/** After so many drain requests to one task its guard does not see them, even when reads lag. */
const MOST_ASKS = 20;

export class LookLog {
  looks = 0;
  /**
   * What the last look reported. `held` are organizations of which coderd lists no daemon although
   * tasks hold leases: their only key was deleted. This contradiction holds scale-in
   * (docs/adr/0009) until a daemon comes with the next job, or a person stops the tasks.
   */
  report: LookReport = { held: new Set(), retired: new Set(), stuck: new Set() };
  readonly orphans = new Map<string, OrphanEvent>();
  readonly problems: string[] = [];
  readonly #options: LookLogOptions;
  /** Of the time, the plan and the outcome of each look, in their order. */
  readonly #digest = createHash('sha256');
  /** Number of drain requests that ECS accepted, by task. */
  readonly #asks = new Map<string, number>();

  constructor(options: LookLogOptions) {
    this.#options = options;
  }

  add(result: LookResult, durationMs: number): void {
    const { world, readLagMs = 0 } = this.#options;
    const from = plusMs(world.timeline.now(), -durationMs);
    this.looks += 1;
    const { plan, outcome } = result;
    this.#digest.update(JSON.stringify([world.timeline.now(), plan, outcome.applied, outcome.refused]));
    this.report = reportOf(result);
    for (const orphan of orphansOf(result.plan.findings)) this.orphans.set(orphan.job, orphan);
    this.problems.push(
      ...pauseViolations(world, result, { from, readLagMs }),
      ...this.#rolledFalsely(result),
      ...this.#askedTooOften(result),
    );
    this.#describeLook(result);
  }

  /** Equal for two worlds only if each look came at the same time, saw the same and did the same. */
  digest(): string {
    return this.#digest.copy().digest('hex').slice(0, 16);
  }

  addError(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.problems.push(`an invocation threw ${text}`);
  }

  #rolledFalsely({ outcome: { applied } }: LookResult): readonly string[] {
    const found = applied.filter((action) => isFalseRoll(this.#options.world, action));
    return found.map(({ pool }) => `pool "${pool}": a task drained for an old secret has the present value`);
  }

  #askedTooOften({ outcome: { applied, refused } }: LookResult): readonly string[] {
    const isRefused = new Set<string>(refused.map(({ task }) => task));
    return applied.flatMap((action) => {
      if (action.kind !== 'ask-to-leave' || isRefused.has(action.task)) return [];
      const asks = (this.#asks.get(action.task) ?? 0) + 1;
      this.#asks.set(action.task, asks);
      return asks === MOST_ASKS + 1 ? [`task ${action.task} got more than ${MOST_ASKS} drain requests`] : [];
    });
  }

  #describeLook({ plan, outcome, failures }: LookResult): void {
    const { print } = this.#options;
    if (print === undefined) return;
    for (const action of plan.actions) print(JSON.stringify(action));
    for (const { task, reason } of outcome.refused) print(`refused: ${task}: ${reason}`);
    for (const { message } of failures) print(`failed: ${message}`);
  }
}

function reportOf({ plan }: LookResult): LookReport {
  const held = plan.findings.flatMap((finding) =>
    finding.code === 'daemons-empty-while-leased' ? [finding.organization] : [],
  );
  const retired = plan.pools.filter(({ why }) => why.some(({ code }) => code === 'retired'));
  const stuck = plan.findings.flatMap((finding) =>
    finding.code === 'tasks-draining-without-daemon' ? finding.tasks.map(lastPart) : [],
  );
  return { held: new Set(held), retired: new Set(retired.map(({ name }) => name)), stuck: new Set(stuck) };
}
