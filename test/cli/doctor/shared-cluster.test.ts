/** Whether doctor says that builds of one organization can end builds of another. */
import { expect, it } from 'vitest';
import { checkSharing } from '../../../cli/doctor/shared-cluster.ts';
import { checkConfig } from '../../../lambda/config/check.ts';

const pool = (name: string, more: object = {}) => ({
  name,
  organization: name,
  key: { secret: name },
  ...more,
});
const [a, b] = [pool('a'), pool('b')];
const taskRole = { arn: 'arn:aws:iam::123456789012:role/terraform' };

const checks = (pools: readonly object[], aws: object = {}) =>
  checkSharing(
    checkConfig({ coder: { url: 'https://c.example.com', token: { secret: 't' } }, pools, aws }).config,
  );

it.each([
  { pools: [a], says: [], because: 'there is one organization' },
  { pools: [a, pool('b', { retiring: true })], says: [], because: 'the other one goes' },
  {
    pools: [a, b],
    says: ['warn', 'a, b share one cluster, where a build of any pool can end builds of all others'],
    because: 'roles are not bound',
  },
  { pools: [a, b], aws: { bindTaskRoles: true }, says: ['ok', 'of its own pool only'], because: 'they are' },
  { pools: [a, b], aws: { bindTaskRoles: false }, says: [], because: 'a person has decided' },
  {
    pools: [a, { ...b, taskRole }],
    aws: { bindTaskRoles: true },
    says: ['warn', 'a build of "b" can end builds of all others'],
    because: 'the role of b is not bound',
  },
  {
    pools: [a, { ...b, taskRole }],
    aws: { bindTaskRoles: true },
    says: ['warn', 'Bind the roles of "b" yourself: they are yours (taskRole.arn)'],
    because: 'the stack does not change it',
  },
])('says $says if $because', ({ pools, aws, says: [status, text] }) => {
  const [found] = checks(pools, aws);
  expect(found?.status).toBe(status);
  if (text !== undefined) expect(found?.says).toContain(text);
});
