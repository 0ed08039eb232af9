/**
 * A pool with two kinds of capacity: two services with one key, one role and one name. And a pool on
 * instances of the user's own capacity provider.
 */
import { readFileSync } from 'node:fs';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../infra/constructs/settings.ts';
import { synthesizePlain } from '../../../infra/plain/write-template.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { EXISTING, MANAGED_KEYS, MINIMAL, synthesize } from '../support/synthesized.ts';
import {
  changesBetween,
  DELETING,
  propertiesOf,
  REPLACING,
  type Resources,
} from '../support/template-changes.ts';
import { containerOf, idsOf, serviceOf, taskOf } from '../support/template-parts.ts';

const dir = ownFolder();

/** Each pool with both kinds of capacity. */
const onBoth = ({ pools, ...rest }: Settings): Settings => ({
  ...rest,
  pools: pools.map(({ spot: _, ...pool }) => ({ ...pool, capacity: ['spot', 'on-demand'] })),
});

/** Each pool on instances of a capacity provider. */
const onInstances = ({ pools, ...rest }: Settings): Settings => ({
  ...rest,
  pools: pools.map(({ spot: _, ephemeralStorage: __, ...pool }) => {
    return { ...pool, capacity: { provider: 'builders' } };
  }),
});

const bound = { ...MANAGED_KEYS, aws: { bindTaskRoles: true } };
const template = synthesize(onBoth(bound));

describe('a pool on Spot and on demand', () => {
  it('has a service for each kind of capacity', () => {
    expect(idsOf(template, 'AWS::ECS::Service')).toHaveLength(2 * MANAGED_KEYS.pools.length);
    const providers = ['default', 'default/spot'].map(
      (part) => serviceOf(template, part).Properties.CapacityProviderStrategy,
    );
    expect(providers).toEqual([
      [{ CapacityProvider: 'FARGATE', Weight: 1 }],
      [{ CapacityProvider: 'FARGATE_SPOT', Weight: 1 }],
    ]);
  });

  it('has one key, one role of the tasks and one name of the daemons', () => {
    expect(idsOf(template, 'AWS::SecretsManager::Secret')).toHaveLength(2);
    const [onDemand, spot] = ['default', 'default/spot'].map((part) => {
      const { Environment } = containerOf(template, part);
      const { TaskRoleArn, Tags, ContainerDefinitions } = taskOf(template, part);
      return { Environment, TaskRoleArn, Tags, secrets: ContainerDefinitions[0].Secrets };
    });
    expect(spot).toEqual(onDemand);
    expect(spot?.Environment).toContainEqual({ Name: 'AUTOSCALER_POOL', Value: 'default' });
  });

  it('has a task definition with a valid family in a plain template', () => {
    const { template: plain } = synthesizePlain(onBoth(MINIMAL), { work: dir });
    const families = Object.values(
      Template.fromJSON(plain as object).findResources('AWS::ECS::TaskDefinition'),
    ).map(({ Properties }) => Properties.Family['Fn::Join'][1].at(-1));
    expect(families).toEqual(['-default', '-default_spot']);
  });
});

describe('a pool on instances of a capacity provider', () => {
  const { template: plain } = synthesizePlain(onInstances(MINIMAL), { work: dir });
  it.each([
    { kind: 'a CDK app', own: synthesize(onInstances(MINIMAL)) },
    { kind: 'a plain template', own: Template.fromJSON(plain as object) },
  ])('has one service there, and a task definition for any kind of instance, in $kind', ({ own }) => {
    expect(idsOf(own, 'AWS::ECS::Service')).toHaveLength(1);
    const { CapacityProviderStrategy, NetworkConfiguration, ...service } = serviceOf(
      own,
      'default',
    ).Properties;
    expect(CapacityProviderStrategy).toEqual([{ CapacityProvider: 'builders', Weight: 1 }]);
    expect(NetworkConfiguration.AwsvpcConfiguration).toMatchObject({ AssignPublicIp: 'DISABLED' });
    expect(service).not.toHaveProperty('LaunchType');
    const task = taskOf(own, 'default');
    expect(task).toMatchObject({ NetworkMode: 'awsvpc', Cpu: '1024', Memory: '2048' });
    expect(task).not.toHaveProperty('RequiresCompatibilities');
  });

  it('has no alarm about the quotas of Fargate', () => {
    const names = Object.values(synthesize(onInstances(MINIMAL)).findResources('AWS::CloudWatch::Alarm')).map(
      ({ Properties }) => JSON.stringify(Properties.AlarmName),
    );
    expect(names.filter((name) => name.includes('quota'))).toEqual([]);
  });
});

describe('a deployment of today that gets both kinds of capacity, or instances', () => {
  const stored = (name: string): { readonly settings: Settings; readonly resources: Resources } =>
    JSON.parse(readFileSync(`test/infra/upgrade/kept/0.2.0/${name}.snap`, 'utf8'));
  const today = [bound, EXISTING].map((settings) => ({
    settings,
    resources: propertiesOf(synthesize(settings)),
  }));

  it.each([stored('minimal'), stored('everything'), ...today])(
    'replaces and removes nothing but revisions of task definitions ($settings.aws.stack)',
    ({ settings, resources: old }) => {
      const now = propertiesOf(synthesize(onBoth(settings)));
      const lost = changesBetween(old, now)
        .filter(({ impact }) => REPLACING.has(impact) || DELETING.has(impact))
        // the dashboard has ended
        .filter(({ type }) => type !== 'AWS::ECS::TaskDefinition' && type !== 'AWS::CloudWatch::Dashboard');
      expect(lost).toEqual([]);
      const moved = changesBetween(old, propertiesOf(synthesize(onInstances(settings))));
      const replaced = moved.filter(({ impact }) => REPLACING.has(impact)).map(({ type }) => type);
      expect(replaced.filter((type) => type !== 'AWS::ECS::TaskDefinition')).toEqual([]);
      const back = changesBetween(now, propertiesOf(synthesize(settings)));
      const services = back.filter(({ type }) => type === 'AWS::ECS::Service');
      expect(services.filter(({ impact }) => REPLACING.has(impact))).toEqual([]);
      const removed = services.filter(({ impact }) => DELETING.has(impact)).map(({ id }) => id);
      expect(removed.every((id) => id.includes('PoolSpot'))).toBe(true);
    },
  );
});
