/** What the looks of a world came to, and what they did that they must not. */

import { plusMs } from '../../lambda/decision/model/brands.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import type { World } from '../../simulator/world.ts';
import type { Told } from './settled.ts';
import { brokenPauses } from './world/pauses.ts';

type Scene = {
  readonly world: World;
  readonly readLagMs: number | undefined;
  /** Told of all that the autoscaler does. */
  readonly say: ((line: string) => void) | undefined;
};

/** An ask is seen as soon as reads lag: not many looks later. A guard that hears none would be asked for ever. */
const MOST_ASKS = 20;

export class LookLog {
  looks = 0;
  asksRefused = 0;
  /**
   * By the last look. `held` are organizations of which coderd lists no daemon at all although tasks hold leases: somebody deleted their
   * only key. That is a contradiction, which holds (docs/adr/0009), until a daemon comes with the next job, or a person stops the tasks.
   */
  told: Told = { held: new Set(), retired: new Set() };
  /** Each a line. */
  readonly problems: string[] = [];
  readonly #scene: Scene;
  /** How often ECS took an ask, by task. */
  readonly #asks = new Map<string, number>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** A look that has just ended. */
  add(result: LookResult, durationMs: number): void {
    const { world, readLagMs = 0 } = this.#scene;
    const from = plusMs(world.timeline.now(), -durationMs);
    this.looks += 1;
    this.asksRefused += result.outcome.refused.length;
    this.told = toldBy(result);
    this.problems.push(...brokenPauses(world, result, { from, readLagMs }), ...this.#nagged(result));
    this.#tell(result);
  }

  addError(error: unknown): void {
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.problems.push(`an invocation threw ${said}`);
  }

  #nagged({ outcome: { applied, refused } }: LookResult): readonly string[] {
    const isRefused = new Set<string>(refused.map(({ task }) => task));
    return applied.flatMap((action) => {
      if (action.kind !== 'ask-to-leave' || isRefused.has(action.task)) return [];
      const asks = (this.#asks.get(action.task) ?? 0) + 1;
      this.#asks.set(action.task, asks);
      return asks === MOST_ASKS + 1
        ? [`task ${action.task} has been asked to leave more than ${MOST_ASKS} times`]
        : [];
    });
  }

  #tell({ plan, outcome, failures }: LookResult): void {
    const { say } = this.#scene;
    if (say === undefined) return;
    for (const action of plan.actions) say(JSON.stringify(action));
    for (const { task, reason } of outcome.refused) say(`refused: ${task}: ${reason}`);
    for (const { message } of failures) say(`failed: ${message}`);
  }
}

function toldBy({ plan }: LookResult): Told {
  const held = plan.findings.flatMap((finding) =>
    finding.code === 'daemons-empty-while-leased' ? [finding.organization] : [],
  );
  const retired = plan.pools.filter(({ why }) => why.some(({ code }) => code === 'retired'));
  return { held: new Set(held), retired: new Set(retired.map(({ name }) => name)) };
}
