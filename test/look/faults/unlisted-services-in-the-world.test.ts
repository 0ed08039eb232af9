/** Limits over all pools while no list has the service of one pool, with real looks. */
import { expect, it } from 'vitest';
import { POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { lookAndAct } from '../../../lambda/look/look.ts';
import { type Lab, type LabPool, startLab } from '../../support/lab.ts';

const pool = (name: string): LabPool => ({
  ...{ name, organization: 'default', tags: { pool: name }, desiredCount: 0, max: 20 },
});

const submit = ({ world }: Lab, name: string, count: number) => {
  for (let job = 0; job < count; job++)
    world.coderd.submitJob({ organization: 'default', tags: { pool: name }, durationMs: 20 * MINUTE_MS });
};

/** Eight jobs come for `b`. At most ten tasks may run. Returns the most that ran together in ten minutes. */
async function mostFor(lab: Lab) {
  const { world, config, pass } = lab;
  submit(lab, 'b', 8);
  let most = 0;
  for (let passed = 0; passed < 600; passed += 10) {
    pass(10);
    await lookAndAct(lab.ports(), config);
    most = Math.max(most, world.ecs.counts().running);
  }
  return { most, killed: world.figures().killed };
}

const start = () => startLab({ pools: [pool('a'), pool('b')], maxTasks: 10, overHttp: false });

it.each([
  { scenario: 'its tasks start', beforeS: 20 },
  { scenario: 'coderd does not list daemons', beforeS: 180, isDaemonListFailing: true },
])('counts eight tasks of a service in no list against maxTasks while $scenario', async (row) => {
  const lab = await start();
  submit(lab, 'a', 8);
  await lab.run(row.beforeS, lab.ports(), 10);
  lab.world.ecs.unlisted.add(lab.world.service('a').identity.name);
  if (row.isDaemonListFailing) lab.world.coderd.failing.add('provisionerdaemons');
  expect(await mostFor(lab)).toEqual({ most: 10, killed: 0 });
});

it.each([
  { whose: 'of another stack', tags: { [POOL_TAG]: 'a', [STACK_TAG]: 'Other' } },
  { whose: 'of no stack', tags: { [POOL_TAG]: 'a' } },
  { whose: 'without tags', tags: {} },
])(
  'counts no task of a service in no list $whose, although its tasks have the family of a pool',
  async (row) => {
    const lab = await start();
    const { ecs } = lab.world;
    const { name } = lab.world.service('a').identity;
    const { family } = lab.world.service('a').state.primary.definition;
    const idle = () => ({ isBusy: () => false, terminate: () => {}, kill: () => {} });
    const definition = ecs.registerTaskDefinition(family, idle);
    ecs.createService({ name: 'others', definition, tags: row.tags, desiredCount: 8 });
    for (const hidden of [name, 'others']) ecs.unlisted.add(hidden);
    lab.pass(60);
    expect(await mostFor(lab)).toEqual({ most: 16, killed: 0 });
  },
);

it.each([
  { hidden: ['a'], scenario: 'the part on demand' },
  { hidden: ['a/spot'], scenario: 'the part on Spot' },
  { hidden: ['a', 'a/spot'], scenario: 'both parts' },
])('counts each task of a pool once while no list has $scenario', async ({ hidden }) => {
  const onBoth = { ...pool('a'), capacity: ['spot', 'on-demand'] } as const;
  const lab = await startLab({ pools: [onBoth, pool('b')], maxTasks: 10, overHttp: false });
  submit(lab, 'a', 8);
  await lab.run(180, lab.ports(), 10);
  for (const part of hidden) lab.world.ecs.unlisted.add(lab.world.service(part).identity.name);
  expect(await mostFor(lab)).toEqual({ most: 10, killed: 0 });
});
