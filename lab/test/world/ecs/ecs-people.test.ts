/**
 * Tests operations that only a person may call: tagging a service, and describing a task
 * definition.
 */
import { describe, expect, it } from 'vitest';
import { table } from '../../../../test/support/table.ts';
import { type Caller, callService } from '../../../world/base/aws-service.ts';
import { ECS } from '../../../world/ecs/api.ts';
import { Fixture } from './ecs-fixture.ts';

const BEFORE = { 'coder-autoscaler:pool': 'gpu' };

function served(options: ConstructorParameters<typeof Fixture>[0] = {}) {
  const world = new Fixture(options, { desiredCount: 0, tags: BEFORE });
  const { arn, name } = world.service.identity;
  const call = (operation: string, body: object, caller: Caller = 'person') =>
    callService(ECS, world.ecs, { name: operation, body, caller });
  return { world, call, arn, name };
}

const tag = (key: string, value: string) => ({ key, value });
const tags = (count: number) => Array.from({ length: count }, (_, index) => tag(`key-${index}`, ''));

describe('the tags of a service', () => {
  it('are added or replaced without changing other tags', () => {
    const { call, arn, world } = served();
    call('TagResource', { resourceArn: arn, tags: [tag('a', '1'), tag('b', 'Ünder + - = . _ : / @')] });
    call('TagResource', { resourceArn: arn, tags: [tag('a', '2'), { key: 'empty' }] });
    expect(world.service.state.tags).toEqual({ ...BEFORE, a: '2', b: 'Ünder + - = . _ : / @', empty: '' });
  });

  it('are limited to 50, including existing ones', () => {
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
    { because: 'a key reserved for AWS', wrong: [tag('AWS:k', '1')] },
    { because: 'one invalid tag among valid ones', wrong: [tag('good', '1'), tag('k', '#')] },
  ])('are all refused because of $because', ({ wrong }) => {
    const { call, arn, world } = served();
    expect(() => call('TagResource', { resourceArn: arn, tags: wrong })).toThrow(
      expect.objectContaining({ type: 'InvalidParameterException' }),
    );
    expect(world.service.state.tags).toEqual(BEFORE);
  });

  it.each(table<{ arn: string; type: string }>`
    arn                                                                      | type
    Stack-Service-A1                                                         | InvalidParameterException
    arn:aws:ecs:eu-central-1:123456789012:service/other/Stack-Service-A1     | ClusterNotFoundException
    arn:aws:ecs:eu-central-1:123456789012:service/Stack-Cluster-AbC123/other | ResourceNotFoundException
  `)('are refused for the ARN $arn with $type', ({ arn, type }) => {
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
});

it.each(['TagResource', 'UntagResource', 'DescribeTaskDefinition', 'DescribeClusters'])(
  "%s is denied to the autoscaler's role",
  (operation) => {
    const { call } = served();
    expect(() => call(operation, {}, 'autoscaler')).toThrow(
      expect.objectContaining({ type: 'AccessDeniedException' }),
    );
  },
);
