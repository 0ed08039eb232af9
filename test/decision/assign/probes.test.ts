/** One task an hour for each key, while coderd lists no daemon of an organization whose tasks hold leases. */
import { describe, expect, it } from 'vitest';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import { NOW } from '../../support/parts.ts';
import { actionsOf, all, type Change, edit, listIs, planOf, poolOf } from '../../support/planned.ts';
import { table } from '../../support/table.ts';

const MINUTE = 60_000;
const iso = (msAgo: number): string => new Date(NOW - msAgo).toISOString();

/** All tasks run and were created so long ago. */
const created =
  (minutesAgo: number): Change =>
  ({ ecs }) => {
    const at = { createdAt: iso(minutesAgo * MINUTE), startedAt: iso((minutesAgo - 1) * MINUTE) };
    for (const index of ecs.tasks.items.keys()) edit(ecs.tasks.items, index, at);
  };
/** Looks of this process have seen the empty list for so long. */
const seenFor =
  (minutes: number): Change =>
  (snapshot) => {
    const mismatches = { 'daemons-empty-while-leased default': iso(minutes * MINUTE) };
    Object.assign(snapshot, { remembered: { mismatches, refused: [] } });
  };
const sharedKey: Change = (_, config) => {
  for (const pool of config.pools as { key?: object }[]) {
    delete pool.key;
    Object.assign(pool, { psk: { secret: 'coder/psk' } });
  }
};
const hour = created(60);

type Row = { readonly world: string; readonly change: Change; readonly launched: string };
const ROWS = table<Row & { readonly because: string }>`
  world                | change                                                    | launched                                            | because
  cpu Z Z              | ${hour}                                                   | cpu 2->3 launching-to-be-seen                       | nothing else would show that the cause is mended
  cpu Z Z              | ${created(59)}                                            | nothing                                             | the last task was created within the hour
  cpu Z Z              | ${all(hour, seenFor(5))}                                  | cpu 2->3 launching-to-be-seen                       | the list has been empty for five minutes
  cpu Z Z              | ${all(hour, seenFor(4))}                                  | nothing                                             | the list may be wrong for a moment
  a Z; b [gpu] Z           | ${hour}                                                   | a 1->2 launching-to-be-seen, b 1->2 launching-to-be-seen | each key may have another cause
  a Z; b [gpu] Z           | ${all(hour, sharedKey)}                                   | a 1->2 launching-to-be-seen                         | one daemon of the key is enough
  cpu Z Z Z Z Z, max 4 | ${hour} | cpu 5->6 launching-to-be-seen | the one for a build, above max, may be in vain too
  cpu Z Z Z Z Z Z, max 4 | ${hour} | nothing | two above max are the most
  cpu Z Z, paused      | ${hour}                                                   | nothing                                             | a person has paused the pool
  cpu Z Z              | ${all(hour, listIs('jobs', { status: 'failed', error: 'x' }))} | nothing                                        | a list is unread
  cpu Z Z              | ${all(hour, (_, config) => Object.assign(config, { limits: { maxTasks: 2 } }))} | nothing                       | the limit over all pools is reached
  cpu B | ${hour} | nothing | coderd lists its daemon
`;

describe('a pool whose tasks hold leases beside no daemon', () => {
  it.each(ROWS)('launches $launched in $world: $because', ({ world, change, launched }) => {
    const plan = planOf(world, change);
    expect(actionsOf(plan).join(', ') || 'nothing').toBe(launched);
  });

  it('says so, and what ends it', () => {
    const plan = planOf('cpu Z Z', hour);
    expect(poolOf(plan, 'cpu').why).toContainEqual({ code: 'launching-to-be-seen' });
    const [finding] = plan.findings;
    expect(finding && sentenceOf(finding)).toMatch(
      /task that each key launches once an hour.*aws ecs update-task-protection --cluster coder --tasks arn:/,
    );
  });
});
