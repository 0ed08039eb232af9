/** Compares costs with dollars computed by hand, and priced resources with deployed ones. */
import { describe, expect, it } from 'vitest';
import {
  alarmsOf,
  BUSY,
  type CostLine,
  costOf,
  costOfManagedKeys,
  costOfStaticFleet,
  ENDPOINTS_MONTH,
  MADE,
  QUIET,
  totalOf,
} from '../../cli/cost/cost.ts';
import { taskHours, WORK_HOURS } from '../../cli/cost/task-hours.ts';
import type { Settings } from '../../infra/constructs/settings.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import type { DeployedPool } from '../../lambda/config/rules/deployment.ts';
import {
  ACTIVITY_METRICS,
  ALARM_METRICS,
  POOL_METRICS,
  WAIT_METRICS,
} from '../../lambda/telemetry/metric-names.ts';
import { table } from '../support/table.ts';
import { EVERYTHING, EXISTING, MANAGED_KEYS, MINIMAL, synthesize } from './support/synthesized.ts';

const POOL = { name: 'a', organization: 'default', key: { secret: 'coder/key' } };

type Written = { readonly pool?: Partial<Settings['pools'][number]>; readonly aws?: Settings['aws'] };

const deploymentOf = ({ pool = {}, aws = {} }: Written) =>
  checkConfig({
    coder: { url: 'https://coder.example.com', token: { secret: 'coder/token' } },
    pools: [{ ...POOL, min: 0, ...pool }],
    aws,
  }).config;

function poolOf(pool: Written['pool'] = {}): DeployedPool {
  const [found] = deploymentOf({ pool }).pools;
  if (found === undefined) throw new Error('the configuration has no pool');
  return found;
}

const WORKDAYS = { days: 'mon-fri', from: '08:00', to: '18:00', timezone: 'Europe/Berlin' };

describe('the task-hours of a month', () => {
  it.each([
    { pool: {}, hours: 0, because: 'the pool keeps no task' },
    { pool: { min: 2 }, hours: 2 * 730, because: 'the min tasks always run' },
    { pool: { min: 2, warm: 3 }, hours: 3 * 730, because: 'free tasks count towards min' },
    {
      pool: { schedules: [{ ...WORKDAYS, warm: 6 }] },
      hours: (6 * 50 * 730) / 168,
      because: 'a week has 50 working hours',
    },
    {
      pool: { schedules: [{ ...WORKDAYS, days: 'sat', from: '22:00', to: '06:00', min: 1 }] },
      hours: (8 * 730) / 168,
      because: 'a night continues into the next week',
    },
    {
      pool: {
        schedules: [
          { ...WORKDAYS, warm: 6 },
          { ...WORKDAYS, days: 'mon', min: 8 },
        ],
      },
      hours: ((6 * 40 + 8 * 10) * 730) / 168,
      because: 'the highest active schedule applies',
    },
    { pool: { min: 5, retiring: true }, hours: 0, because: 'a retiring pool keeps no task' },
  ])('are $hours for the pool $pool without builds: $because', ({ pool, hours }) => {
    expect(taskHours(poolOf(pool), QUIET)).toBeCloseTo(hours, 6);
  });

  it.each([
    {
      pool: { max: 20, warm: 0 },
      hours: 7 * WORK_HOURS,
      because: '35 % of 20 tasks are busy in working hours',
    },
    {
      pool: { max: 20, min: 10, warm: 0 },
      hours: 10 * 730,
      because: 'busy tasks count towards min',
    },
    {
      pool: { max: 20, warm: 2 },
      hours: 2 * 730 + 7 * WORK_HOURS,
      because: 'free tasks come on top of busy ones',
    },
    { pool: { max: 10, warm: 9 }, hours: 9 * 730 + 1 * WORK_HOURS, because: 'max limits the tasks' },
  ])('are $hours for the pool $pool in a busy week: $because', ({ pool, hours }) => {
    expect(taskHours(poolOf(pool), BUSY)).toBeCloseTo(hours, 6);
  });
});

const line = (lines: readonly CostLine[], what: CostLine['what']) =>
  lines.find((candidate) => candidate.what === what)?.dollars;

/** docs/internals/aws.md §9: 1 vCPU at $0.03238 and 2 GB at $0.00356 an hour. */
const TASK_HOUR = 0.0395;

describe('the dollars a month', () => {
  it.each(table<
    Written & { readonly what: CostLine['what']; readonly dollars: number; readonly because: string }
  >`
    what            | pool          | aws                                 | dollars                        | because
    Fargate tasks   | ${{ min: 1 }} |                                     | ${730 * TASK_HOUR}             | one task runs all the time
    Fargate tasks   | ${{ min: 2, spot: true }} |                                     | ${730 * 2 * 0.01185}           | Spot costs 30 % of the price
    Fargate tasks   | ${{ min: 1, ephemeralStorage: 120 }} |                                     | ${730 * (TASK_HOUR + 0.0111)}  | the first 20 GB are free
    NAT gateways    |               |                                     | ${32.85 + 3.65 + 4.38 * 0.045} | a gateway, its address, 43,800 looks of 0.1 MB
    NAT gateways    |               | ${{ network: { natGateways: 2 }, function: { inVpc: false } }} | ${2 * 36.5}                    | a function outside the VPC does not use them
    traffic between zones |         |                                     | ${4.38 * 0.5 * 0.02}           | half of the traffic crosses to the only gateway, at a cent each way
    traffic between zones |         | ${{ network: { natGateways: 2 } }}  | 0                              | each zone has its gateway
    traffic between zones |         | ${EXISTING.aws}                     | 0                              | an existing VPC already has egress
    NAT gateways    |               | ${EXISTING.aws}                     | 0                              | an existing VPC already has egress
    interface endpoints |               | ${{ network: { endpoints: true } }} | 73                             | there are five in two zones at a cent an hour
    Lambda          |               |                                     | ${21_900 * 0.5 * 0.0000133334 + 0.00876} | 43,800 looks take half a second at 512 MB
    Lambda          |               | ${{ function: { memory: 1024 } }}   | ${21_900 * 0.0000133334 + 0.00876} | twice the memory costs twice as much
    metrics         |               |                                     | 1.5                            | five metrics have values without builds
    metrics         | ${{ min: 1 }} |                                     | 3                              | five more have values while a daemon is up
    metrics         |               | ${{ metrics: { perPool: true } }}   | 2.4                            | each pool adds three metrics
    alarms          |               |                                     | 1.3                            | there are twelve alarms and one for the quota
    alarms          |               | ${{ alarms: { enabled: false } }}   | 0                              | there are no alarms
    logs            |               |                                     | ${43_800 * 0.000004 * 0.53}    | a look writes 4 kB, kept for a month
    logs            |               | ${{ logs: { retentionDays: 365 } }} | ${43_800 * 0.000004 * (0.5 + 0.365)} | CloudWatch keeps them for a year
    Secrets Manager |               |                                     | ${0.8 + 0.2628}                | there are a token, a key, 8,760 reads and 43,800 lists
    Secrets Manager | ${{ secrets: { A: { secret: 'coder/key', jsonKey: 'a' }, B: { secret: 'b' } } }} |                                     | ${1.2 + 0.2628}                | one secret can hold several values
    KMS             |               |                                     | 0                              | AWS's own keys are free
    KMS             |               | ${{ kmsKey: EVERYTHING.aws?.kmsKey }} | 1                              | your own key is not free
    Scheduler, SQS, SNS, SSM |               |                                     | ${0.0438 + 0.2628 + 0.05}      | there are 43,800 runs, and 657,000 empty receives at $0.40 a million, and an advanced parameter costs five cents
  `)('are $dollars for $what without builds: $because', ({ what, dollars, ...written }) => {
    expect(line(costOf(deploymentOf(written), QUIET), what)).toBeCloseTo(dollars, 6);
  });

  it('grow with the builds: tasks, their downloads, and the logs of tasks and function', () => {
    const busy = costOf(deploymentOf({ pool: { max: 20, warm: 0 } }), BUSY);
    // 7 tasks for 217.26 hours; a look every 10 s in them
    const taskHours = 7 * WORK_HOURS;
    const looks = (730 - WORK_HOURS) * 60 + WORK_HOURS * 360;
    expect(line(busy, 'Fargate tasks')).toBeCloseTo(taskHours * TASK_HOUR, 6);
    expect(line(busy, 'NAT gateways')).toBeCloseTo(36.5 + (taskHours * 0.5 + looks * 0.0001) * 0.045, 6);
    expect(line(busy, 'Lambda')).toBeCloseTo(looks * (0.5 * 0.5 * 0.0000133334 + 0.0000002), 6);
    // 300 looks an hour are started by a message, with three requests
    const messages = WORK_HOURS * 300 * 3 * 0.0000004;
    const record = 0.05 + WORK_HOURS * 60 * 0.000005;
    expect(line(busy, 'Scheduler, SQS, SNS, SSM')).toBeCloseTo(0.0438 + 0.2628 + messages + record, 6);
    expect(line(busy, 'logs')).toBeCloseTo((looks * 0.000004 + taskHours * 0.002) * 0.53, 6);
    expect(line(busy, 'metrics')).toBeCloseTo((5 + (11 * WORK_HOURS) / 730) * 0.3, 6);
  });

  it('stay within maxTasks if the pools together may have more', () => {
    const { config } = checkConfig({
      coder: { url: 'https://coder.example.com', token: { secret: 'coder/token' } },
      limits: { maxTasks: 20 },
      pools: [
        { ...POOL, min: 0, max: 20, warm: 0 },
        { ...POOL, name: 'b', organization: 'data', key: { secret: 'b' }, min: 0, max: 20, warm: 0 },
      ],
    });
    expect(line(costOf(config, BUSY), 'Fargate tasks')).toBeCloseTo(7 * WORK_HOURS * TASK_HOUR, 6);
  });

  it('of a fixed fleet are those of its tasks around the clock', () => {
    expect(costOfStaticFleet(poolOf(), 60)).toBeCloseTo(60 * 730 * TASK_HOUR, 6);
  });

  it('add up to the total, of which the autoscaler itself is less than five in a quiet month', () => {
    const lines = costOf(deploymentOf({}), QUIET);
    expect(totalOf(lines)).toBeCloseTo(
      lines.reduce((sum, { dollars }) => sum + dollars, 0),
      9,
    );
    expect(totalOf(lines)).toBeCloseTo(41.21, 2);
    const nat = (line(lines, 'NAT gateways') ?? 0) + (line(lines, 'traffic between zones') ?? 0);
    expect(totalOf(lines) - nat).toBeLessThan(5);
  });
});

describe('the counted resources', () => {
  it.each([
    { name: 'minimal', settings: MINIMAL },
    { name: 'everything on', settings: EVERYTHING },
    { name: 'managed keys', settings: MANAGED_KEYS },
    {
      name: 'a key function without pools',
      settings: { ...MINIMAL, managedKeys: MANAGED_KEYS.managedKeys },
    },
    { name: 'existing network', settings: EXISTING },
  ])('match the template of the deployment: $name', ({ settings }) => {
    const { config } = checkConfig(settings);
    const template = synthesize(settings);
    const countOf = (type: string) => Object.keys(template.findResources(type)).length;
    const { network } = config.aws;
    const natGateways = network.vpc === undefined ? network.natGateways : 0;
    const interfaces = Object.values(template.findResources('AWS::EC2::VPCEndpoint')).filter(
      ({ Properties }) => Properties.VpcEndpointType === 'Interface',
    );
    expect(countOf('AWS::EC2::NatGateway')).toBe(natGateways);
    expect(countOf('AWS::EC2::EIP')).toBe(natGateways);
    expect(interfaces).toHaveLength(network.endpoints ? MADE.endpoints : 0);
    for (const { Properties } of interfaces) expect(Properties.SubnetIds).toHaveLength(MADE.zones);
    expect(countOf('AWS::CloudWatch::Alarm')).toBe(alarmsOf(config));
    expect(countOf('AWS::KMS::Key')).toBe(0);
    expect(countOf('AWS::SecretsManager::Secret')).toBe(
      config.pools.filter(({ auth }) => auth.kind === 'managed').length,
    );
  });

  it('match the metrics of the function', () => {
    expect(ALARM_METRICS).toHaveLength(MADE.metrics);
    expect(ACTIVITY_METRICS).toHaveLength(MADE.activityMetrics);
    expect(Object.keys(WAIT_METRICS)).toHaveLength(MADE.waitMetrics);
    expect(POOL_METRICS).toHaveLength(MADE.metricsPerPool);
  });

  it('give the price of the interface endpoints', () => {
    expect(ENDPOINTS_MONTH).toBeCloseTo(73, 9);
  });
});

describe('managed keys', () => {
  const { config } = checkConfig(MANAGED_KEYS);

  it('cost their secrets, and 2,920 sweeps of 0.5 GB-seconds and 8 calls', () => {
    const sweep = 0.5 * 0.0000133334 + 0.2e-6 + (8 * 0.05) / 10_000;
    expect(costOfManagedKeys(config)).toBeCloseTo(2 * 0.4 + 2920 * sweep, 9);
  });

  it('cost less than $1.50 a pool, with the secret of their token', () => {
    const secretOfToken = 0.4;
    expect((costOfManagedKeys(config) + secretOfToken) / 2).toBeLessThan(1.5);
  });

  it('cost nothing in a deployment without them', () => {
    expect(costOfManagedKeys(deploymentOf({}))).toBe(0);
  });
});
