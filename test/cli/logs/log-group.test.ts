/** Which log group the commands read, from the tags of the services in the cluster. */
import { describe, expect, it } from 'vitest';
import { findLogGroup } from '../../../cli/logs/function-log.ts';
import { LOG_GROUP_TAG, POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { aConfig, aPool, aService, poolName } from '../../support/parts.ts';

const serviceOf = (pool: string, stack: string) =>
  aService({
    tags: [
      { key: POOL_TAG, value: pool },
      { key: LOG_GROUP_TAG, value: `/logs/${stack}` },
      { key: STACK_TAG, value: stack },
    ],
  });

const EU = serviceOf('cpu-eu', 'Eu');
const US = serviceOf('cpu-us', 'Us');
const OLD = aService({ tags: [{ key: POOL_TAG, value: 'cpu-us' }] });
const config = aConfig(aPool({ name: poolName('cpu-us') }));

describe('the log group of the function', () => {
  it.each([
    { services: [EU, US], group: '/logs/Us', because: 'the pool of the other service is not in the file' },
    { services: [US, EU], group: '/logs/Us', because: 'the order does not matter' },
    { services: [OLD, US], group: '/logs/Us', because: 'one service has no such tag yet' },
    { services: [EU], group: '/logs/Eu', because: 'no pool of the file is deployed yet' },
    { services: [OLD], group: undefined, because: 'no service names one' },
  ])('is $group: $because', ({ services, group }) => {
    expect(findLogGroup(services, config)?.group).toBe(group);
  });
});
