/** The same snapshot at a later time. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { snapshotAt } from '../../cli/shift-snapshot.ts';
import { parseSnapshot, snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import { decide } from '../../lambda/decision/decide.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Plan } from '../../lambda/decision/model/plan.ts';
import { POOL_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import {
  aDaemon,
  ago,
  aJob,
  anOrganization,
  aService,
  aSnapshot,
  aTemplate,
  aWorkspace,
  HOUR,
  MINUTE,
  NOW,
  reading,
  SECOND,
} from '../support/parts.ts';
import { draw, type Picture } from '../support/picture.ts';
import { planSnapshot } from '../support/plan-snapshot.ts';
import { actionsOf, inWords } from '../support/planned.ts';
import { runs } from '../support/runs.ts';
import { table } from '../support/table.ts';
import { uglyStates } from '../support/ugly/ugly.ts';
import { pictureOf } from '../support/world-in-words.ts';

function actionsAt(world: string | Picture, ms: number): string {
  const { snapshot, config } = draw(typeof world === 'string' ? pictureOf(world) : world);
  const later = snapshotAt(parseSnapshot(snapshot), (NOW + ms) as EpochMs);
  return inWords(actionsOf(planSnapshot(snapshotToJson(later), config)));
}

describe('a plan for a later time', () => {
  it.each(table<{ world: string; laterS: number; expected: string; because: string }>`
    world                           | laterS | expected           | because
    cpu; start in 86400s | 86_300 | cpu 0->1 prewarm   | it is about to be due
    cpu; start in 86400s | 82_800 | nothing            | there is time
    cpu; stop in 36000s  | 86_400 | nothing            | coderd has done it by then
    cpu; stop 3600s ago  | 3600   | cpu 0->1 awake-for | it may not have been made
    cpu; stop 60s ago    | 86_400 | nothing            | coderd was about to do it
    cpu I9m                         | 3600   | nothing            | the pools are as they were, and as long since
  `)('gives $expected for $world, $laterS s later, because $because', ({ world, laterS, expected }) => {
    expect(actionsAt(world, laterS * SECOND)).toBe(expected);
  });

  it('is without a pin that has expired by then', () => {
    const overrides = { pin: '2', 'pin-until': '2026-11-20T09:30:00Z' };
    expect(actionsAt({ pools: { cpu: { overrides } } }, 30 * MINUTE)).toBe('nothing');
  });

  it('has the floor of a schedule that begins until then', () => {
    const schedules = [{ from: '09:30', to: '10:00', timezone: 'UTC', min: 2 }];
    expect(actionsAt({ pools: { cpu: { schedules } } }, 30 * MINUTE)).toBe('cpu 0->2 floor');
  });
});

it('moves all times of the record of recent jobs', () => {
  const recentJobs = {
    ...reading([
      aJob({ created_at: ago(HOUR), started_at: ago(50 * MINUTE), completed_at: ago(45 * MINUTE) }),
      aJob({ created_at: ago(2 * HOUR), completed_at: null }),
    ]),
    takenAt: ago(MINUTE),
  };
  const later = snapshotAt(aSnapshot({ organizations: [anOrganization({ recentJobs })] }), ago(-24 * HOUR));
  const moved = later.coder.organizations[0]?.recentJobs;
  expect(moved).toMatchObject({ status: 'ok', takenAt: ago(MINUTE - 24 * HOUR) });
  expect(moved?.items).toMatchObject([
    {
      created_at: ago(-23 * HOUR),
      started_at: ago(50 * MINUTE - 24 * HOUR),
      completed_at: ago(45 * MINUTE - 24 * HOUR),
    },
    { created_at: ago(-22 * HOUR), completed_at: null },
  ]);
});

it('adds no record of recent jobs', () => {
  expect(snapshotAt(aSnapshot(), ago(-HOUR)).coder.organizations[0]).not.toHaveProperty('recentJobs');
});

/** The pools without the times in their reasons. */
const withoutTimes = ({ pools }: Plan) =>
  pools.map(({ why, ...pool }) => ({ ...pool, why: why.map((reason) => ({ ...reason, since: '' })) }));

it('plans the same at any time without forecast, schedules and overrides', () => {
  const bare = ({ coder, ecs, ...rest }: Snapshot): Snapshot => ({
    ...rest,
    ecs: {
      ...ecs,
      services: {
        ...ecs.services,
        items: ecs.services.items.map((service) => ({
          ...service,
          tags: service.tags.filter(({ key }) => key === POOL_TAG),
        })),
      },
    },
    coder: {
      ...coder,
      organizations: coder.organizations.map(({ workspaces, templates, activeVersionTags, ...own }) => own),
    },
  });
  fc.assert(
    fc.property(uglyStates({ view: 'any' }), fc.nat(10 * 24 * HOUR), ({ snapshot, config }, ms) => {
      const plain = { ...config, pools: config.pools.map((pool) => ({ ...pool, schedules: [] })) };
      const now = decide(bare(snapshot), plain);
      const then = decide(snapshotAt(bare(snapshot), (NOW + ms) as EpochMs), plain);
      expect(then.actions).toEqual(now.actions);
      expect(withoutTimes(then)).toEqual(withoutTimes(now));
    }),
    runs(300),
  );
});

it('keeps the ages of a deployment, of changes by others and of missing tasks', () => {
  const service = aService({
    deployments: [{ status: 'PRIMARY', createdAt: ago(HOUR) }],
    changesByOthers: [ago(MINUTE)],
    shortage: { lastedMs: MINUTE, until: ago(SECOND) },
  });
  const later = snapshotAt(aSnapshot({ services: [service] }), (NOW + 3 * HOUR) as EpochMs);
  expect(later.ecs.services.items[0]).toMatchObject({
    deployments: [{ createdAt: NOW + 2 * HOUR }],
    changesByOthers: [NOW + 3 * HOUR - MINUTE],
    shortage: { lastedMs: MINUTE, until: NOW + 3 * HOUR - SECOND },
  });
});

it('keeps suspended members, and the ages of offline daemons', () => {
  const members = { ...reading([{ user_id: 'ada', status: 'suspended' }]), takenAt: NOW };
  const offlineDaemons = reading([aDaemon({ created_at: ago(HOUR), last_seen_at: ago(MINUTE) })]);
  const forecast = { workspaces: reading([aWorkspace()]), templates: reading([aTemplate()]) };
  const organization = anOrganization({ ...forecast, members, offlineDaemons });
  const later = snapshotAt(aSnapshot({ organizations: [organization] }), (NOW + HOUR) as EpochMs);
  expect(later.coder.organizations[0]).toMatchObject({
    members: { takenAt: NOW + HOUR, items: members.items },
    offlineDaemons: { items: [{ created_at: NOW, last_seen_at: NOW + HOUR - MINUTE }] },
  });
});
