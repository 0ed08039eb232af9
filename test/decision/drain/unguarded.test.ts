/** Tasks without a guard, of a pool that had `scaleIn: confirm` until 0.2. */
import { expect, it } from 'vitest';
import { NOW } from '../../support/parts.ts';
import {
  actionsOf,
  type Change,
  edit,
  inWords,
  listIs,
  organizationIn,
  planOf,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

/** The daemons have the names of their hosts. Minutes of protection of each task, 0 for none. */
const bare =
  (minutes: readonly number[], further: Change): Change =>
  (snapshot, config) => {
    for (const [index, left] of minutes.entries()) {
      const privateIpv4Address = `10.0.1.${index}`;
      edit(snapshot.ecs.tasks.items, index, {
        containers: [{ networkInterfaces: [{ privateIpv4Address }] }],
      });
      edit(organizationIn(snapshot).daemons.items, index, { name: `ip-10-0-1-${index}` });
      const expirationDate = new Date(NOW + left * 60_000).toISOString();
      edit(snapshot.ecs.protections.items, index, { protectionEnabled: left > 0, expirationDate });
    }
    further(snapshot, config);
  };

const offline: Change = (snapshot) =>
  edit(organizationIn(snapshot).daemons.items, 0, {
    status: 'offline',
    last_seen_at: '2026-11-20T08:00:00Z',
  });

const unread = listIs('protections', { status: 'failed', items: [] });

type Row = {
  readonly tasks: string;
  readonly minutes: string;
  readonly desired?: number;
  readonly change?: Change;
  readonly expected: string;
  readonly because: string;
};

it.each(table<Row>`
  tasks      | minutes | desired | change     | expected       | because
  B          | '0'     |         |            | protect cpu#0  | nothing else does
  B          | '19'    |         |            | protect cpu#0  | it is time to renew
  B          | '20'    |         |            | nothing        | it is protected for long enough
  B          | '120'   |         |            | nothing        | it is protected for long enough
  I20m       | '0'     |         |            | nothing        | it may take a job before ECS stops it, so the count stays
  I20m       | '12'    |         |            | nothing        | the autoscaler never removes a protection
  I20m       | '0'     |         | ${offline} | nothing        | a daemon that is offline may build on
  I20m       | '4'     | 3       |            | nothing        | its protection could end meanwhile
  I20m B     | 0 25    | 1       |            | cpu 1->2 count-below-tasks | ECS would stop one
  I20m B     | 0 4     |         |            | protect cpu#1  | only the one that builds
  B          | '4'     |         | ${listIs('jobs', { status: 'failed' })} | protect cpu#0 | in doubt too
  B          | '1440'  |         | ${unread}  | nothing        | the lease of a guard would become shorter
  B          | '19'    |         | ${unread}  | nothing        | the next look may read how long it is protected
`)('get $expected for $tasks with $minutes min of protection, because $because', (row) => {
  const { desired, change = () => {} } = row;
  const minutes = `${row.minutes}`.split(' ').map(Number);
  const plan = planOf(
    { pools: { cpu: { tasks: row.tasks, ...(desired && { desired }) } } },
    bare(minutes, change),
  );
  expect(inWords(actionsOf(plan))).toBe(row.expected);
});

it('are protected also while the change of their count is left to the next look', () => {
  const others = Array.from({ length: 40 }, (_, index) => [`p${index}`, { tags: { n: `${index}` }, min: 2 }]);
  const pools = { cpu: { tasks: 'B', desired: 0 }, ...Object.fromEntries(others) };
  const ofCpu = actionsOf(
    planOf(
      { pools },
      bare([0], () => {}),
    ),
  ).filter((action) => action.includes('cpu'));
  expect(ofCpu).toEqual(['protect cpu#0']);
});
