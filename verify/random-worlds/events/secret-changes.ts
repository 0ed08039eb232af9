/**
 * Plans changes of secrets: people store another key, or only add a tag, while lists of secrets are
 * old or tell too little, or the autoscaler may not read them for a time.
 */
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { SECRET_LIES } from '../world/plan.ts';
import { untilNextMs, type WorldContext } from '../world/world-context.ts';

/** AWS's own (docs/internals/aws.md §4). */
const OLD_LIST_MS = 5 * MINUTE_MS;
const LIST_OPERATIONS = ['ListSecrets', 'ListSecretVersionIds'] as const;

export type SecretChanges = {
  /** Number of keys that people replaced. */
  readonly count: () => number;
  /** Ends all faults, and plans no further change. */
  readonly end: () => void;
};

/** Plans all changes of secrets of a world on its timeline. */
export function planSecretChanges({ world, plan, fleet, random, print }: WorldContext): SecretChanges {
  const { changesAnHour, listLagMs, forbiddenAnHour, liesAnHour } = plan.secrets;
  let isOver = false;
  let count = 0;
  const tellAll = (): void => {
    world.secrets.hidden = 'nothing';
    world.secrets.listLagMs = listLagMs;
  };
  tellAll();
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
  repeat(liesAnHour, () => {
    const lie = random.pick(SECRET_LIES);
    const name = random.pick(fleet.pools)?.name;
    const secret = world.secrets.find(`coder/keys/${name}`);
    if (lie === 'tagged') secret?.tag(new Map([['owner', 'somebody else']]), world.timeline.now());
    else if (lie === 'rotated without a version') secret?.rotated(world.timeline.now());
    else {
      if (lie === 'older list') world.secrets.listLagMs = OLD_LIST_MS;
      else world.secrets.hidden = lie === 'undated' ? 'dates' : 'versions';
      world.timeline.after(random.whole(MINUTE_MS, 30 * MINUTE_MS), tellAll);
    }
    print(`secrets: ${lie}, pool ${name}`);
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
      tellAll();
    },
  };
}
