/** How often one process lists the services of the cluster. DescribeServices tells their state in each look. */
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../lambda/connect.ts';
import { plusMs } from '../../lambda/decision/model/brands.ts';
import { POOL_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import { SECOND_MS } from '../../lambda/decision/model/units.ts';
import { observeEcs } from '../../lambda/look/observe.ts';
import { startLab } from '../support/lab.ts';

const pool = (name: string) => ({ name, organization: 'default', tags: { pool: name }, desiredCount: 1 });

/** Pools `a` and `b`, in a cluster of the stack. Each look has new ports, as each minute of the function. */
async function process() {
  let lists = 0;
  const lab = await startLab({
    pools: [pool('a'), pool('b')],
    onRequest: ({ operation }) => {
      lists += Number(operation === 'ListServices');
    },
  });
  const { ecs, stackName, timeline } = lab.world;
  lab.pass(120);
  const options = { stack: stackName, ownsCluster: true };
  const connection = connect(lab.config, ecs.clusterName, undefined, options);
  onTestFinished(connection.close);
  const startedAt = timeline.now();
  const look = async (second: number, pools = ['a', 'b']) => {
    const before = lists;
    const seen = await observeEcs(connection.ports().ecs, plusMs(startedAt, second * SECOND_MS), pools);
    return { ...seen, isListed: lists > before };
  };
  const listedAt = async (seconds: readonly number[], pools?: string[]) => {
    const listed: number[] = [];
    for (const second of seconds) if ((await look(second, pools)).isListed) listed.push(second);
    return listed;
  };
  return { lab, ecs, look, listedAt, nameOf: (of: string) => lab.world.service(of).identity.name };
}

it('keeps the list for ten minutes while each pool has a service', async () => {
  const { listedAt } = await process();
  expect(await listedAt([0, 60, 599, 600, 610, 1199, 1200])).toEqual([0, 600, 1200]);
});

it('lists services again after the clock has stepped back', async () => {
  const { listedAt } = await process();
  expect(await listedAt([1200, 1190, 600, 610])).toEqual([1200, 600]);
});

it('lists services after a minute while a pool has none', async () => {
  const { listedAt } = await process();
  expect(await listedAt([0, 59, 60, 119, 120], ['a', 'b', 'new'])).toEqual([0, 60, 120]);
});

it('sees in each look what became of a service', async () => {
  const { ecs, look, nameOf } = await process();
  await look(0);
  ecs.setDesiredCount(nameOf('a'), 7);
  const { services, isListed } = await look(10);
  expect(services.items.map(({ desiredCount }) => desiredCount)).toEqual([7, 1]);
  expect(isListed).toBe(false);
});

it('lists services in the next look once the service of a pool is deleted, and finds another one', async () => {
  const { lab, ecs, look, listedAt, nameOf } = await process();
  await look(0);
  ecs.deleteService(nameOf('a'));
  const { primary } = lab.world.service('a').state;
  const tags = { [POOL_TAG]: 'a', [STACK_TAG]: lab.world.stackName };
  ecs.createService({ name: 'another', definition: primary.definition, tags, desiredCount: 0 });
  expect(await listedAt([70, 80])).toEqual([80]);
  const { services, isListed } = await look(200);
  expect(isListed).toBe(false);
  expect(services.items.map(({ serviceName }) => serviceName).sort()).toEqual(
    ['another', nameOf('b')].sort(),
  );
});

it('lists services after a minute while a task has none of them', async () => {
  const { lab, ecs, look, listedAt } = await process();
  await look(0);
  const { definition } = lab.world.service('a').state.primary;
  ecs.createService({ name: 'others', definition, desiredCount: 1 });
  lab.pass(60);
  expect(await listedAt([50, 60, 70, 130, 660])).toEqual([60, 660]);
});

it('takes the service of another stack for none of a pool', async () => {
  const { lab, ecs, listedAt } = await process();
  const { definition } = lab.world.service('a').state.primary;
  const tags = { [POOL_TAG]: 'c', [STACK_TAG]: 'Other' };
  ecs.createService({ name: 'others', definition, tags, desiredCount: 0 });
  expect(await listedAt([0, 60, 120], ['a', 'b', 'c'])).toEqual([0, 60, 120]);
});

it('gives no time of AWS that is older than the look', async () => {
  const { ecs, look } = await process();
  expect((await look(0)).services.takenAt).toBeDefined();
  ecs.failing.add('ListServices');
  const { services } = await look(600);
  expect(services.status).toBe('failed');
  expect(services.takenAt).toBeUndefined();
});
