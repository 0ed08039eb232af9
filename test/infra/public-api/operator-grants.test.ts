/** Grants to the people and pipelines that operate an autoscaler. */
import type { CfnElement, Stack } from 'aws-cdk-lib';
import { AccountPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import { FLOOR_TAG, PAUSE_TAG, PIN_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { actionsIn, callsIn, deploy, idOf, statementsFor } from '../support/public-api.ts';
import { cpu, deployment } from '../support/synthesized.ts';

const aRole = (stack: Stack, id = 'Operator'): Role =>
  new Role(stack, id, { assumedBy: new AccountPrincipal('123456789012') });

describe('a grant to an operator', () => {
  it('to invoke allows dry runs of this function only', () => {
    const { stack, autoscaler } = deploy(deployment([cpu]));
    const role = aRole(stack);
    autoscaler.grantInvoke(role).assertSuccess();
    const [statement, ...more] = statementsFor(stack, role);
    expect(statement?.Action).toBe('lambda:InvokeFunction');
    expect(JSON.stringify(statement?.Resource)).toContain(idOf(stack, autoscaler.function));
    expect(more).toEqual([]);
  });

  it('to read allows what the reading commands call, and no change', () => {
    const { stack, autoscaler } = deploy(deployment([cpu]));
    const role = aRole(stack);
    autoscaler.grantRead(role).assertSuccess();
    const reading = callsIn('lambda/adapters/ecs/ecs.ts', 'ecs').filter(
      (action) => !action.startsWith('ecs:Update'),
    );
    expect(reading.length).toBeGreaterThan(4);
    expect(actionsIn(statementsFor(stack, role))).toEqual(
      [
        ...reading,
        ...callsIn('lambda/adapters/ecs/task-definitions.ts', 'ecs'),
        ...callsIn('lambda/adapters/look-log.ts', 'logs'),
        ...callsIn('lambda/adapters/insights.ts', 'logs'),
        ...callsIn('lambda/adapters/secrets/secret-metadata.ts', 'secretsmanager'),
        'kms:Decrypt',
        'secretsmanager:GetSecretValue',
      ].toSorted(),
    );
  });

  it('to read allows queries on the logs of the function and of each pool', () => {
    const { stack, autoscaler } = deploy(deployment([cpu]));
    const role = aRole(stack);
    autoscaler.grantRead(role);
    const [query] = statementsFor(stack, role).filter(({ Action }) => Action.includes('logs:StartQuery'));
    for (const { node } of [autoscaler.logGroup, autoscaler.pool('cpu').logGroup])
      expect(JSON.stringify(query?.Resource)).toContain(stack.getLogicalId(node.defaultChild as CfnElement));
  });

  it('to read allows one value only: that of the token', () => {
    const { stack, autoscaler } = deploy(deployment([cpu]));
    const role = aRole(stack);
    autoscaler.grantRead(role);
    const secrets = statementsFor(stack, role).filter(({ Action }) => Action.includes('GetSecretValue'));
    expect(JSON.stringify(secrets)).toContain('secret:coder/autoscaler-token-??????');
    expect(JSON.stringify(secrets)).not.toContain('coder/keys');
  });

  it('to override allows the tags of overrides on services of this stack', () => {
    const { stack, autoscaler } = deploy(deployment([cpu]));
    const role = aRole(stack);
    autoscaler.grantOverride(role).assertSuccess();
    const statements = statementsFor(stack, role);
    expect(actionsIn(statements)).toEqual(
      [
        ...callsIn('lambda/adapters/ecs/override-tags.ts', 'ecs'),
        'ecs:DescribeServices',
        'ecs:ListServices',
      ].toSorted(),
    );
    const [tagging] = statements.filter(({ Action }) => Action.includes('ecs:TagResource'));
    expect(tagging?.Condition).toEqual({
      StringEquals: { 'aws:ResourceTag/coder-autoscaler:stack': 'Test' },
      'ForAllValues:StringEquals': {
        'aws:TagKeys': [PAUSE_TAG, PIN_TAG, FLOOR_TAG].flatMap((tag) => [
          tag,
          ...['until', 'by', 'why'].map((field) => `${tag}-${field}`),
        ]),
      },
    });
  });

  it.each(['grantInvoke', 'grantRead', 'grantOverride'] as const)(
    'with %s can be made to several grantees, and twice to one',
    (grant) => {
      const { stack, autoscaler } = deploy(deployment([cpu]));
      const [first, second] = [aRole(stack), aRole(stack, 'Pipeline')];
      autoscaler[grant](first);
      autoscaler[grant](first);
      autoscaler[grant](second);
      expect(actionsIn(statementsFor(stack, first))).toEqual(actionsIn(statementsFor(stack, second)));
    },
  );

  it('can be made to a service that a policy cannot be attached to, which is reported', () => {
    const { autoscaler } = deploy(deployment([cpu]));
    const grant = autoscaler.grantRead(new ServicePrincipal('events.amazonaws.com'));
    expect(() => grant.assertSuccess()).toThrow(/could not be added/);
  });
});
