/**
 * Plans changes of secrets: people store another key, or only add a tag, while lists of secrets are
 * old, or the autoscaler may not read them for a time.
 */
import { untilNextMs, type WorldContext } from '../world/world-context.ts';

const MINUTE_MS = 60_000;
const LIST_OPERATIONS = ['ListSecrets', 'ListSecretVersionIds'] as const;

export type SecretChanges = {
  /** Number of keys that people replaced. */
  readonly count: () => number;
  /** Ends all faults, and plans no further change. */
  readonly end: () => void;
};

/** Plans all changes of secrets of a world on its timeline. */
export function planSecretChanges({ world, plan, fleet, random, print }: WorldContext): SecretChanges {
  const { changesAnHour, listLagMs, forbiddenAnHour } = plan.secrets;
  let isOver = false;
  let count = 0;
  world.secrets.listLagMs = listLagMs;
  const repeat = (perHour: number, act: () => void): void => {
    if (perHour === 0) return;
    world.timeline.after(untilNextMs(random, perHour), () => {
      if (isOver) return;
      act();
      repeat(perHour, act);
    });
  };
  const permit = (): void => {
    for (const operation of LIST_OPERATIONS) world.secrets.allowOperation(operation);
  };
  repeat(changesAnHour, () => {
    const { name } = random.pick(fleet.pools) ?? {};
    if (name === undefined) return;
    if (random.next() < 0.2) {
      world.secrets.find(`coder/keys/${name}`)?.tag(new Map([['owner', 'somebody']]), world.timeline.now());
      print(`secret tagged: ${name}`);
      return;
    }
    count += 1;
    world.changeKey(name);
    print(`secret changed: ${name}`);
  });
  repeat(forbiddenAnHour, () => {
    const operation = random.pick(LIST_OPERATIONS) ?? 'ListSecrets';
    world.secrets.denyOperation(operation);
    print(`secrets: ${operation} is forbidden`);
    world.timeline.after(random.whole(MINUTE_MS, 60 * MINUTE_MS), permit);
  });
  return {
    count: () => count,
    end: () => {
      isOver = true;
      permit();
    },
  };
}
