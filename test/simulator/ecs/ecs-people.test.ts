/** What only a person may do: tag a service, look at a task definition. */
import { describe, expect, it } from 'vitest';
import { type Caller, callEcs } from '../../../simulator/ecs/api.ts';
import { Fixture, SECOND } from './ecs-fixture.ts';

const BEFORE = { 'coder-autoscaler:pool': 'gpu' };

function served(options: ConstructorParameters<typeof Fixture>[0] = {}) {
  const world = new Fixture(options, { desiredCount: 0, tags: BEFORE });
  const { arn, name } = world.service.identity;
  const call = (operation: string, body: object, caller: Caller = 'person') =>
    callEcs(world.ecs, operation, body, caller);
  return { world, call, arn, name };
}

const tag = (key: string, value: string) => ({ key, value });
const tags = (count: number) => Array.from({ length: count }, (_, index) => tag(`key-${index}`, ''));

describe('the tags of a service', () => {
  it('are added and replaced, and the others stay', () => {
    const { call, arn, world } = served();
    call('TagResource', { resourceArn: arn, tags: [tag('a', '1'), tag('b', 'Ünder + - = . _ : / @')] });
    call('TagResource', { resourceArn: arn, tags: [tag('a', '2'), { key: 'empty' }] });
    expect(world.service.state.tags).toEqual({ ...BEFORE, a: '2', b: 'Ünder + - = . _ : / @', empty: '' });
  });

  it('are removed, also where they are not', () => {
    const { call, arn, world } = served();
    call('TagResource', { resourceArn: arn, tags: [tag('a', '1'), tag('b', '2')] });
    call('UntagResource', { resourceArn: arn, tagKeys: ['a', 'never-there'] });
    expect(world.service.state.tags).toEqual({ ...BEFORE, b: '2' });
  });

  it('are seen as late as all else is', () => {
    const { call, arn, name, world } = served({ readLagMs: 2 * SECOND });
    world.pass(10 * SECOND);
    call('TagResource', { resourceArn: arn, tags: [tag('a', '1')] });
    const { clusterName: cluster } = world.ecs;
    const seen = () =>
      JSON.stringify(call('DescribeServices', { cluster, services: [name], include: ['TAGS'] }));
    expect(Array.from({ length: 20 }, seen).some((answer) => !answer.includes('"key":"a"'))).toBe(true);
    world.pass(2 * SECOND);
    expect(seen()).toContain('{"key":"a","value":"1"}');
  });

  it('are 50 at the most, old ones included', () => {
    const { call, arn, world } = served();
    call('TagResource', { resourceArn: arn, tags: tags(49) });
    expect(Object.keys(world.service.state.tags)).toHaveLength(50);
    expect(() => call('TagResource', { resourceArn: arn, tags: [tag('one-more', '')] })).toThrow(
      expect.objectContaining({ type: 'InvalidParameterException' }),
    );
  });

  it.each([
    { because: 'no tag', wrong: [] },
    { because: 'a key of 129 characters', wrong: [tag('k'.repeat(129), '')] },
    { because: 'no key', wrong: [tag('', '1')] },
    { because: 'a value of 257 characters', wrong: [tag('k', 'v'.repeat(257))] },
    { because: 'a character that is not allowed', wrong: [tag('k', 'bad (image)')] },
    { because: 'one of AWS', wrong: [tag('AWS:k', '1')] },
    { because: 'one wrong among others', wrong: [tag('good', '1'), tag('k', '#')] },
  ])('are refused as a whole: $because', ({ wrong }) => {
    const { call, arn, world } = served();
    expect(() => call('TagResource', { resourceArn: arn, tags: wrong })).toThrow(
      expect.objectContaining({ type: 'InvalidParameterException' }),
    );
    expect(world.service.state.tags).toEqual(BEFORE);
  });

  it('take the longest key and value', () => {
    const { call, arn, world } = served();
    call('TagResource', { resourceArn: arn, tags: [tag('k'.repeat(128), 'v'.repeat(256))] });
    expect(Object.keys(world.service.state.tags)).toHaveLength(2);
  });

  it.each([
    { arn: 'Stack-Service-A1', type: 'InvalidParameterException' },
    {
      arn: 'arn:aws:ecs:eu-central-1:123456789012:service/other/Stack-Service-A1',
      type: 'ClusterNotFoundException',
    },
    {
      arn: 'arn:aws:ecs:eu-central-1:123456789012:service/Stack-Cluster-AbC123/other',
      type: 'ResourceNotFoundException',
    },
  ])('of $arn: $type', ({ arn, type }) => {
    const { call } = served();
    expect(() => call('TagResource', { resourceArn: arn, tags: tags(1) })).toThrow(
      expect.objectContaining({ type }),
    );
    expect(() => call('UntagResource', { resourceArn: arn, tagKeys: ['a'] })).toThrow(
      expect.objectContaining({ type }),
    );
  });
});

describe('a task definition', () => {
  it('is described by ARN, by revision, or as the latest of its family', () => {
    const { call, world } = served();
    const { arn, family, revision } = world.service.state.primary.definition;
    const answer = call('DescribeTaskDefinition', { taskDefinition: arn });
    expect(answer).toMatchObject({
      taskDefinition: {
        taskDefinitionArn: arn,
        cpu: '1024',
        memory: '2048',
        containerDefinitions: [{ name: 'provisioner', entryPoint: ['/opt/coder'] }],
      },
    });
    expect(call('DescribeTaskDefinition', { taskDefinition: `${family}:${revision}` })).toEqual(answer);
    expect(call('DescribeTaskDefinition', { taskDefinition: family })).toEqual(answer);
    world.deploy();
    expect(call('DescribeTaskDefinition', { taskDefinition: family })).toMatchObject({
      taskDefinition: { revision: revision + 1 },
    });
  });

  it.each(['nothing', 'Family:9'])('that is not there (%s) is a ClientException', (taskDefinition) => {
    const { call } = served();
    expect(() => call('DescribeTaskDefinition', { taskDefinition })).toThrow(
      expect.objectContaining({ type: 'ClientException' }),
    );
  });
});

it.each(['TagResource', 'UntagResource', 'DescribeTaskDefinition'])(
  "%s is no operation of the autoscaler's role",
  (operation) => {
    const { call } = served();
    expect(() => call(operation, {}, 'autoscaler')).toThrow(
      expect.objectContaining({ type: 'AccessDeniedException' }),
    );
  },
);

it.each(['StopTask', 'RunTask', 'toString'])('%s is nobody’s operation here', (operation) => {
  const { call } = served();
  expect(() => call(operation, {})).toThrow(expect.objectContaining({ type: 'AccessDeniedException' }));
});
