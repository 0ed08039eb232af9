/**
 * Keys are replaced or tagged while lists of secrets are old, tell too little or are forbidden. The
 * record of builds, a cache, is lost, older, wrong or denied for a time.
 */
import { recordNameOf } from '../../../../lambda/decision/model/service-tags.ts';
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import type { WorldEvents } from '../world/world-events.ts';

/** AWS's own (docs/internals/aws.md §4). */
const OLD_LIST_MS = 5 * MINUTE_MS;
const LIST_OPERATIONS = ['ListSecrets', 'ListSecretVersionIds'] as const;
/** What lists of secrets tell wrongly. The last two are changes that leave the value as it is. */
const SECRET_LIES = [
  'versions missing',
  'undated',
  'older list',
  'tagged',
  'rotated without a version',
] as const;
const RECORD_FAULTS = ['lost', 'older', 'wrong', 'denied'] as const;

export function planSecretChanges(events: WorldEvents): void {
  const { world, plan, fleet, counts, print } = events;
  const { secrets, timeline } = world;
  const { changesAnHour, listLagMs, forbiddenAnHour, liesAnHour } = plan.secrets;
  const random = events.source(9);
  const tellAll = (): void => {
    secrets.hidden = 'nothing';
    secrets.listLagMs = listLagMs;
  };
  const permit = (): void => {
    for (const operation of LIST_OPERATIONS) secrets.allowOperation(operation);
  };
  tellAll();
  events.repeat(random, changesAnHour, () => {
    const { name } = random.pick(fleet.pools) ?? {};
    if (name === undefined) return;
    if (random.next() < 0.2) {
      secrets.find(`coder/keys/${name}`)?.tag(new Map([['owner', 'somebody']]), timeline.now());
      print(`secret tagged: ${name}`);
      return;
    }
    counts.secretsChanged += 1;
    world.changeKey(name);
    print(`secret changed: ${name}`);
  });
  events.repeat(random, liesAnHour, () => {
    const lie = random.pick(SECRET_LIES);
    const name = random.pick(fleet.pools)?.name;
    const secret = secrets.find(`coder/keys/${name}`);
    if (lie === 'tagged') secret?.tag(new Map([['owner', 'somebody else']]), timeline.now());
    else if (lie === 'rotated without a version') secret?.rotated(timeline.now());
    else {
      if (lie === 'older list') secrets.listLagMs = OLD_LIST_MS;
      else secrets.hidden = lie === 'undated' ? 'dates' : 'versions';
      timeline.after(random.whole(MINUTE_MS, 30 * MINUTE_MS), tellAll);
    }
    print(`secrets: ${lie}, pool ${name}`);
  });
  events.repeat(random, forbiddenAnHour, () => {
    const operation = random.pick(LIST_OPERATIONS) ?? 'ListSecrets';
    secrets.denyOperation(operation);
    print(`secrets: ${operation} is forbidden`);
    timeline.after(random.whole(MINUTE_MS, 60 * MINUTE_MS), permit);
  });
  events.atEnd(permit);
  events.atEnd(tellAll);
}

/** Plans all faults of the record of builds of a world. Those that find a record are counted. */
export function planRecordFaults(events: WorldEvents): void {
  const { parameters, timeline, stackName } = events.world;
  const name = recordNameOf(stackName);
  const random = events.source(43);
  let earlier: string | undefined;
  events.repeat(random, events.plan.memory.recordAnHour, () => {
    const kind = random.pick(RECORD_FAULTS);
    const present = parameters.find(name);
    if (present === undefined) return;
    events.counts.recordFaults += 1;
    events.print(`record of builds: ${kind}`);
    if (kind === 'lost') parameters.delete(name);
    else if (kind === 'older') parameters.put(name, earlier ?? present, 'Advanced');
    else if (kind === 'wrong') parameters.put(name, present.slice(random.whole(1, 40)), 'Advanced');
    else {
      parameters.deny(name);
      timeline.after(random.whole(MINUTE_MS, 90 * MINUTE_MS), () => parameters.permit(name));
    }
    earlier = present;
  });
  events.atEnd(() => parameters.permit(name));
}
