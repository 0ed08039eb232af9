/** Plans retirements: pools retire under load, and some are taken back. */
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import type { WorldContext } from '../world/world-context.ts';

/**
 * Plans the retirements of a world on its timeline. At the end, pools are taken back without which
 * workspaces would run without end.
 */
export function planRetirements({ world, plan, fleet, print }: Omit<WorldContext, 'random'>): {
  readonly end: () => void;
} {
  let isOver = false;
  const after = (hours: number, run: () => void): void => {
    world.timeline.after(Math.round(hours * HOUR_MS), () => {
      if (!isOver) run();
    });
  };
  for (const retirement of plan.retirements) {
    const { pool, atHours, isRenamed, backAfterHours } = retirement;
    after(atHours, () => {
      print(`retiring: ${pool}${isRenamed ? ', renamed' : ''}`);
      fleet.retire(retirement);
      if (backAfterHours === undefined) return;
      after(backAfterHours, () => {
        print(`taken back: ${pool}`);
        fleet.takeBack(pool);
      });
    });
  }
  return {
    end: () => {
      isOver = true;
      fleet.takeBackNeeded();
    },
  };
}
