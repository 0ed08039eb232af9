/** Causes in AWS and in the stack, and what people do to it. */
import { withoutRouteToEcs } from '../closed-routes.ts';
import { CPU, KMS_KEY, type Night } from '../night.ts';
import type { Cause } from './cause.ts';

const nameOf = ({ world }: Night): string => world.service('cpu').identity.name;

export const AWS: readonly Cause[] = [
  {
    cause: 'the schedule is disabled',
    begin: (night) => {
      night.world.account.schedule = 'DISABLED';
      night.submit(3, 4);
    },
    mend: ({ world }) => {
      world.account.schedule = 'ENABLED';
    },
    act: 'enable the schedule',
    words: /schedule: .* is disabled/,
    rings: ['no-tick'],
  },
  {
    cause: "the function's log group was deleted",
    begin: ({ world }) => world.logs.deleteGroup(world.logGroupName),
    mend: ({ world }) => world.logs.createGroup(world.logGroupName),
    act: 'restore the log group',
    words: /log groups: .* does not exist/,
    rings: ['no-tick'],
  },
  {
    cause: 'the KMS key of the stack is disabled',
    prepare: ({ world: { logs } }) => {
      for (const name of logs.groups()) logs.settings.set(name, { retentionInDays: 30, kmsKeyId: KMS_KEY });
    },
    begin: (night) => {
      night.world.account.kmsKeys.set(KMS_KEY, 'Disabled');
      night.isRunning = false;
    },
    mend: (night) => {
      night.world.account.kmsKeys.set(KMS_KEY, 'Enabled');
      night.isRunning = true;
    },
    act: 'enable the key',
    words: /KMS keys: .* is Disabled/,
    rings: ['failing-ticks', 'no-tick'],
    settings: { aws: { kmsKey: KMS_KEY } },
    unsent: 'The topic is encrypted with the same key, so no mail comes.',
  },
  {
    cause: 'a deployment failed half-way',
    begin: ({ world }) =>
      world.account.stacks.set(world.stackName, {
        status: 'UPDATE_ROLLBACK_FAILED',
        cluster: world.ecs.clusterName,
      }),
    mend: ({ world }) =>
      world.account.stacks.set(world.stackName, {
        status: 'UPDATE_ROLLBACK_COMPLETE',
        cluster: world.ecs.clusterName,
      }),
    act: 'end the rollback',
    words: /UPDATE_ROLLBACK_FAILED/,
    rings: [],
  },
  {
    cause: "the function's route to ECS is closed",
    begin: (night) => {
      night.route = withoutRouteToEcs;
    },
    mend: (night) => night.openRoutes(),
    act: 'open the route',
    words: /The function looks from the subnets/,
    rings: ['failing-ticks', 'no-tick'],
  },
  {
    cause: 'ECS does not describe services',
    begin: ({ world }) => world.ecs.failing.add('DescribeServices'),
    mend: ({ world }) => world.ecs.failing.clear(),
    act: 'wait for AWS',
    words: /list ECS services/,
    rings: ['failing-ticks', 'no-tick'],
  },
  {
    cause: 'ECS does not list tasks',
    begin: ({ world }) => world.ecs.failing.add('ListTasks'),
    mend: ({ world }) => world.ecs.failing.clear(),
    act: 'wait for AWS',
    words: /listing tasks|list ECS tasks/,
    rings: ['failing-ticks', 'sight-lost'],
  },
  {
    cause: 'ECS refuses UpdateService',
    begin: (night) => {
      night.world.ecs.failing.add('UpdateService');
      night.submit(5, 4);
    },
    mend: ({ world }) => world.ecs.failing.clear(),
    act: 'wait for AWS',
    words: /desired count/,
    rings: ['failing-ticks', 'job-waits'],
  },
  {
    cause: "the pool's service was deleted by hand",
    begin: (night) => night.world.ecs.deleteService(nameOf(night)),
    mend: ({ world }) => world.addPool(CPU),
    act: 'cdk deploy --revert-drift',
    words: /finding the service|no service/,
    rings: ['failing-ticks', 'job-waits'],
  },
  {
    cause: 'a script changes the desired count',
    begin: (night) =>
      night.always((minute) => night.world.ecs.setDesiredCount(nameOf(night), minute % 2 === 0 ? 3 : 1)),
    mend: (night) => night.always(() => {}),
    act: 'stop the script',
    words: /desired count/,
    rings: ['count-contested'],
  },
  {
    cause: 'a host fails under a build',
    prepare: (night) => night.submit(1, 30),
    begin: (night) => {
      for (const { identity } of night.tasks()) night.world.ecs.hostFailure(identity.id);
    },
    mend: () => {},
    act: 'follow `explain --dead`',
    words: /died/,
    rings: ['builds-died'],
    lasts: 15,
  },
  {
    cause: 'a guard hangs after its daemon has ended',
    begin: (night) => {
      for (const { identity } of night.tasks()) {
        night.world.guard(identity.id)?.hang();
        night.world.guard(identity.id)?.daemon?.crash(0);
      }
      night.people = false;
    },
    mend: ({ world }) => {
      for (const { identity } of world.service('cpu').tasks) world.ecs.stopTask(identity.id);
    },
    act: 'stop the task',
    words: /drain/,
    rings: ['drain-stuck', 'sight-lost'],
    lasts: 90,
  },
  {
    cause: 'a person paused the pool',
    begin: async (night) => {
      await night.lab.call('pause', 'cpu', '--for', '8h', '--why', 'driver update');
      night.submit(3, 4);
    },
    mend: (night) => night.lab.call('resume', 'cpu'),
    act: 'autoscaler resume',
    words: /paused until/,
    rings: [],
  },
  {
    cause: 'a person pinned the pool to one task',
    begin: async (night) => {
      await night.lab.call('pin', 'cpu', '1', '--for', '8h', '--why', 'workshop');
      night.submit(3, 10);
    },
    mend: (night) => night.lab.call('unpin', 'cpu'),
    act: 'autoscaler unpin',
    words: /pinned/,
    rings: ['job-waits'],
  },
];
