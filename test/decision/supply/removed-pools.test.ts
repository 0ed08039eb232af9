/** Removed pools: they are no longer in the configuration while their service still exists. */
import { expect, it } from 'vitest';
import { HOUR_MS as HOUR } from '../../../lambda/decision/model/units.ts';
import { NOW } from '../../support/parts.ts';
import type { Drawn } from '../../support/picture.ts';
import { actionsOf, type Change, edit, organizationIn, planOf, poolOf } from '../../support/planned.ts';

const ownTags = { stack: 'Ours', organization: 'default', 'scale-in': 'lease' };
/** The primary deployment of every service began this many hours ago. */
const deployed = ({ ecs }: Drawn['snapshot'], hours: number): void => {
  const createdAt = new Date(NOW - hours * HOUR).toISOString();
  for (const service of ecs.services.items)
    service.deployments = [{ id: 'one', status: 'PRIMARY', rolloutState: 'COMPLETED', createdAt }];
};

/**
 * The plan of stack `Ours`, whose configuration no longer has the pool `old` with one idle and one
 * busy daemon.
 */
const planned = (tags: Readonly<Record<string, string>> = ownTags, change: Change = () => {}) =>
  planOf(
    { pools: { cpu: {}, old: { tasks: 'I1m B', tags: { team: 'x' }, overrides: tags } } },
    (snapshot, config) => {
      deployed(snapshot, 3);
      Object.assign(snapshot.ecs, { stack: 'Ours' });
      config.pools = (config.pools as { name: string }[]).filter(({ name }) => name !== 'old');
      change(snapshot, config);
    },
  );

it('drains every task of a removed pool, and reports the pool', () => {
  const plan = planned();
  expect(actionsOf(plan)).toEqual(['ask old#0', 'ask old#1']);
  expect(poolOf(plan, 'old')).toMatchObject({ retiring: true });
  expect(plan.findings).toEqual([
    { code: 'service-without-pool', pool: 'old', service: 'Stack-old', drains: true },
  ]);
});

it.each<{ scenario: string; tags?: Readonly<Record<string, string>>; change?: Change; because: string }>([
  {
    scenario: 'a function that does not know its stack',
    change: ({ ecs }) => Reflect.deleteProperty(ecs, 'stack'),
    because: "the service may be another deployment's",
  },
  {
    scenario: 'a service without a stack tag',
    tags: { organization: 'default', 'scale-in': 'lease' },
    because: "the service may be another deployment's",
  },
  {
    scenario: 'a deployment of less than 3 hours',
    change: (snapshot) => deployed(snapshot, 2.9),
    because: 'the pool may be new, and the function not updated yet',
  },
  {
    scenario: 'a service without the tags of its settings',
    tags: { stack: 'Ours' },
    because: 'the organization of its daemons is unknown',
  },
  {
    scenario: 'a pool of 0.2 that never scales in',
    tags: { ...ownTags, 'scale-in': 'never' },
    because: 'its tasks have no guard, so ECS would choose which one stops',
  },
  {
    scenario: 'a pool of 0.2 with scaleIn: confirm',
    tags: { ...ownTags, 'scale-in': 'confirm' },
    because: 'its tasks have no guard, so ECS would choose which one stops',
  },
  {
    scenario: 'an organization that no pool of the file has',
    tags: { ...ownTags, organization: 'elsewhere' },
    because: 'its daemons and jobs are not read',
  },
])('only reports $scenario, because $because', ({ tags, change }) => {
  const plan = planned(tags, change);
  expect(plan.pools.map(({ name }) => name)).toEqual(['cpu']);
  expect(plan.actions).toEqual([]);
  expect(plan.findings).toEqual([
    { code: 'service-without-pool', pool: 'old', service: 'Stack-old', drains: false },
  ]);
});

it('drains nothing with doubts', () => {
  const plan = planned(ownTags, (snapshot) =>
    Object.assign(organizationIn(snapshot).jobs, { status: 'truncated' }),
  );
  expect(plan.actions).toEqual([]);
});

it('neither drains nor reports the service of another stack', () => {
  const plan = planned({ ...ownTags, stack: 'Theirs' });
  expect([plan.actions, plan.findings]).toEqual([[], []]);
});

it.each([
  { other: { stack: 'Theirs' }, because: "it is another deployment's" },
  { other: {}, because: 'the other one has the tag of this stack' },
])('scales the own one of two services with the name of one pool: $because', ({ other }) => {
  const plan = planOf(
    { pools: { cpu: { overrides: { stack: 'Ours' } }, two: { overrides: other } }, pending: [{}] },
    ({ ecs }, config) => {
      Object.assign(ecs, { stack: 'Ours' });
      config.pools = (config.pools as { name: string }[]).filter(({ name }) => name === 'cpu');
      const tags = ecs.services.items[1]?.tags as { key: string; value: string }[];
      edit(ecs.services.items, 1, { tags: [{ ...tags[0], value: 'cpu' }, ...tags.slice(1)] });
    },
  );
  expect(actionsOf(plan)).toEqual(['cpu 0->1 pending-jobs']);
  expect(plan.findings).toEqual([]);
});
