/** The tasks of services that no list of ECS has, in a cluster of the stack. */
import { ECSClient } from '@aws-sdk/client-ecs';
import { expect, it, onTestFinished } from 'vitest';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { connect } from '../../lambda/connect.ts';
import { POOL_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import { observeEcs } from '../../lambda/look/observe.ts';
import { startLab } from '../support/lab.ts';

const pool = (name: string, desiredCount: number) => ({
  ...{ name, organization: 'default', tags: { pool: name }, desiredCount },
});

/** Pool `a` has two tasks and `b` three; another service has four. */
async function cluster() {
  const calls: string[] = [];
  const lab = await startLab({
    pools: [pool('a', 2), pool('b', 3)],
    onRequest: ({ service, operation }) => service === 'ecs' && calls.push(operation),
  });
  const { ecs, stackName } = lab.world;
  const definition = ecs.registerTaskDefinition('others', () => ({
    ...{ isBusy: () => false, terminate: () => {}, kill: () => {} },
  }));
  ecs.createService({ name: 'others', definition, desiredCount: 4 });
  lab.pass(180);
  const options = { stack: stackName, ownsCluster: true };
  const connection = connect(lab.config, ecs.clusterName, undefined, options);
  onTestFinished(connection.close);
  const look = async () => {
    calls.length = 0;
    const seen = await observeEcs(connection.ports().ecs);
    return { ...seen, described: calls.filter((call) => call === 'DescribeTasks').length };
  };
  return { lab, ecs, look, name: (of: string) => lab.world.service(of).identity.name };
}

it('reads no tags while every task has a listed service', async () => {
  const { look } = await cluster();
  const { tasks, described } = await look();
  expect(tasks).toMatchObject({ status: 'ok', items: Array.from({ length: 5 }, () => ({ tags: [] })) });
  expect(described).toBe(1);
});

it('adds the tasks with the tags of this stack that are to run, and reads no protection of them', async () => {
  const { lab, ecs, look, name } = await cluster();
  for (const hidden of [name('a'), 'others']) ecs.unlisted.add(hidden);
  const [first] = lab.world.service('a').tasks;
  ecs.stopTask(first?.identity.id ?? '');
  lab.pass(120);
  const { tasks, protections, described } = await look();
  const group = `service:${name('a')}`;
  expect(tasks).toMatchObject({ status: 'ok', items: Array.from({ length: 5 }, () => ({})) });
  const added = tasks.items.filter((task) => task.group === group);
  const tags = [
    { key: POOL_TAG, value: 'a' },
    { key: STACK_TAG, value: lab.world.stackName },
  ];
  expect(added).toMatchObject([{ tags }, { tags }]);
  expect(tasks.items.filter((task) => task.tags?.length !== 0)).toHaveLength(2);
  expect(protections.items).toHaveLength(3);
  expect(described).toBe(2);
});

it('misses no row of a task in another group', async () => {
  const { ecs, look, name } = await cluster();
  ecs.unlisted.add(name('a'));
  for (const { identity } of ecs.tasks())
    if (identity.serviceName !== name('b')) ecs.unreadable.add(identity.id);
  const { tasks } = await look();
  expect(tasks).toMatchObject({ status: 'ok', items: Array.from({ length: 3 }, () => ({})) });
});

it('leaves them out, and nothing else, if ECS does not tell their tags', async () => {
  const { ecs, look, name } = await cluster();
  ecs.unlisted.add(name('a'));
  ecs.refusesTagsOfTasks = true;
  const { tasks } = await look();
  expect(tasks).toMatchObject({ status: 'ok', items: Array.from({ length: 3 }, () => ({})) });
});

it.each([
  { group: 'family:cpu', asked: [undefined] },
  { group: undefined, asked: [undefined] },
  { group: 'service:hidden', asked: [undefined, ['TAGS']] },
])('asks for the tags of tasks of services only: $group', async ({ group, asked }) => {
  const includes: (string[] | undefined)[] = [];
  const task = { taskArn: 'arn:task', group, lastStatus: 'RUNNING', desiredStatus: 'RUNNING' };
  const send = async ({ input }: { input: { tasks?: string[]; include?: string[] } }) => {
    if (input.tasks === undefined) return { taskArns: ['arn:task'] };
    includes.push(input.include);
    return { tasks: [task] };
  };
  const client = Object.assign(new ECSClient({ region: 'eu-central-1' }), { send });
  const ecs = new EcsAdapter(client, 'cluster', { stack: 'Stack', ownsCluster: true });
  expect(await ecs.tasks([{ serviceName: 'a' }])).toEqual({ status: 'ok', items: [] });
  expect(includes).toEqual(asked);
});
