/** Pools that retire under load, and some that come back. */
import type { Scene } from '../world/scene.ts';

const HOUR_MS = 3_600_000;

/** Plans the retirements of a world on its timeline; at the end those come back without whom workspaces would run for ever. */
export function planRetirements({ world, plan, fleet, say }: Omit<Scene, 'random'>): {
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
      say(`retiring: ${pool}${isRenamed ? ', renamed' : ''}`);
      fleet.retire(retirement);
      if (backAfterHours === undefined) return;
      after(backAfterHours, () => {
        say(`taken back: ${pool}`);
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
