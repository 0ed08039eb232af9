/** Grants to the people and pipelines that operate an autoscaler. */
import type { CfnElement } from 'aws-cdk-lib';
import { AccountPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import { FLOOR_TAG, PAUSE_TAG, PIN_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { actionsIn, callsIn, deploy, idOf, statementsFor } from '../support/public-api.ts';
import { cpu, deployment } from '../support/synthesized.ts';

const { stack, autoscaler } = deploy(deployment([cpu]));

const GRANTS = ['grantInvoke', 'grantRead', 'grantOverride'] as const;
type GrantName = (typeof GRANTS)[number];

/** The statements of an operator with this grant, and those of a pipeline that gets it twice. */
const grantees = GRANTS.map((grant) => {
  const [operator, pipeline] = ['Operator', 'Pipeline'].map((id) => {
    const role = new Role(stack, `${id}-${grant}`, { assumedBy: new AccountPrincipal('123456789012') });
    autoscaler[grant](role).assertSuccess();
    return role;
  }) as [Role, Role];
  autoscaler[grant](pipeline);
  return { grant, operator, pipeline };
});

const granted = new Map(
  grantees.map(({ grant, operator, pipeline }) => [
    grant,
    { once: statementsFor(stack, operator), twice: statementsFor(stack, pipeline) },
  ]),
);
const statementsOf = (grant: GrantName) => granted.get(grant)?.once ?? [];

describe('a grant to an operator', () => {
  it('to invoke allows dry runs of this function only', () => {
    const [statement, ...more] = statementsOf('grantInvoke');
    expect(statement?.Action).toBe('lambda:InvokeFunction');
    expect(JSON.stringify(statement?.Resource)).toContain(idOf(stack, autoscaler.function));
    expect(more).toEqual([]);
  });

  it('to read allows what the reading commands call, and no change', () => {
    const reading = callsIn('lambda/adapters/ecs/ecs.ts', 'ecs').filter(
      (action) => !action.startsWith('ecs:Update'),
    );
    expect(reading.length).toBeGreaterThan(4);
    expect(actionsIn(statementsOf('grantRead'))).toEqual(
      [
        ...reading,
        ...callsIn('cli/adapters/look-log.ts', 'logs'),
        ...callsIn('cli/adapters/insights.ts', 'logs'),
        ...callsIn('lambda/adapters/secrets/secret-metadata.ts', 'secretsmanager'),
        ...callsIn('cli/shared/stack-cluster.ts', 'cloudformation'),
        'kms:Decrypt',
        'secretsmanager:GetSecretValue',
        'ssm:GetParameters',
      ].toSorted(),
    );
  });

  it("to read allows queries on the function's log, and not on those of the pools", () => {
    const [query] = statementsOf('grantRead').filter(({ Action }) => Action.includes('logs:StartQuery'));
    const idOfLog = ({ node }: ILogGroup) => stack.getLogicalId(node.defaultChild as CfnElement);
    expect(JSON.stringify(query?.Resource)).toContain(idOfLog(autoscaler.logGroup));
    expect(JSON.stringify(query?.Resource)).not.toContain(idOfLog(autoscaler.pool('cpu').logGroup));
  });

  it('to read allows one value only: that of the token', () => {
    const secrets = statementsOf('grantRead').filter(({ Action }) => Action.includes('GetSecretValue'));
    expect(JSON.stringify(secrets)).toContain('secret:coder/autoscaler-token-??????');
    expect(JSON.stringify(secrets)).not.toContain('coder/keys');
  });

  it.each(['grantRead', 'grantOverride'] as const)(
    'with %s reads the outputs of this stack only',
    (grant) => {
      const [reading] = statementsOf(grant).filter(
        ({ Action }) => Action === 'cloudformation:DescribeStacks',
      );
      expect(JSON.stringify(reading?.Resource)).toMatch(/:cloudformation:.*:stack\/Test\/\*/);
    },
  );

  it('to override allows the tags of overrides on services of this stack', () => {
    const statements = statementsOf('grantOverride');
    expect(actionsIn(statements)).toEqual(
      [
        ...callsIn('cli/adapters/override-tags.ts', 'ecs'),
        ...callsIn('cli/shared/stack-cluster.ts', 'cloudformation'),
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

  it.each(GRANTS)('with %s can be made to several grantees, and twice to one', (grant) => {
    const { once, twice } = granted.get(grant) ?? {};
    expect(once).not.toEqual([]);
    expect(twice).toEqual(once);
  });

  it('can be made to a service that a policy cannot be attached to, which is reported', () => {
    const grant = autoscaler.grantRead(new ServicePrincipal('events.amazonaws.com'));
    expect(() => grant.assertSuccess()).toThrow(/could not be added/);
  });
});
