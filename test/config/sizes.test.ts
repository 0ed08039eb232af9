/**
 * What counts against the limits of ECS and CloudFormation, and what a file that exceeds them is told.
 * test/infra/pool/sizes.test.ts compares the numbers with templates.
 */
import { describe, expect, it } from 'vitest';
import { draftConfig } from '../../lambda/config/rules/drafts.ts';
import {
  checkResources,
  checkSizes,
  resourcesOf,
  templateBytes,
} from '../../lambda/config/rules/size-rules.ts';
import { CODER, fileWith, POOL } from './written.ts';

const AWS = { stack: 'Stack' };
const resources = (pool: object, aws: object = {}, rest: object = {}): number =>
  resourcesOf(draftConfig(fileWith(pool, { ...rest, aws: { ...AWS, ...aws } })), undefined);
const NONE = resources({});
const MANAGED = { key: 'managed' };
const PARTS = { capacity: ['spot', 'on-demand'] };
const GROUP = { logs: { group: '/x' } };
const VPC = { vpc: 'vpc-1', subnets: ['subnet-1'] };

it.each<{ pool?: object; aws?: object; rest?: object; more: number; because: string }>([
  { aws: { network: VPC }, more: -22, because: 'an own security group' },
  { aws: { network: { ...VPC, securityGroups: [] } }, more: -22, because: 'no security group is named' },
  { aws: { network: { ...VPC, securityGroups: ['sg-1'] } }, more: -23, because: 'one is named' },
  { aws: { network: { natGateways: 1 } }, more: 0, because: 'one NAT gateway is the default' },
  { aws: { network: { natGateways: 2 } }, more: 2, because: 'a second NAT gateway and its address' },
  { aws: { network: { endpoints: true } }, more: 8, because: 'the endpoints' },
  { aws: { network: { endpoints: false } }, more: 0, because: 'no endpoints' },
  { aws: { cluster: 'platform' }, more: -2, because: 'no own cluster' },
  { aws: { alarms: { enabled: false } }, more: -15, because: 'no alarms and no topic' },
  { aws: { alarms: { enabled: true } }, more: 0, because: 'alarms are the default' },
  { aws: { alarms: { topic: 'arn:aws:sns:x' } }, more: -2, because: 'no own topic' },
  { aws: { alarms: { emails: ['a@b.c', 'd@e.f'] } }, more: 2, because: 'two subscriptions' },
  {
    aws: { alarms: { topic: 'arn:aws:sns:x', emails: ['a@b.c'] } },
    more: -2,
    because: 'none of another topic',
  },
  { aws: GROUP, more: -2, because: 'no log group of the function and of the pool' },
  { pool: MANAGED, more: 13, because: 'the key function, its alarm and the key' },
  { pool: PARTS, more: 6, because: 'a second service, its log group and the alarm on Spot' },
  { pool: PARTS, aws: GROUP, more: 3, because: 'a second service and the alarm, without log groups' },
  { pool: { capacity: { provider: 'own' } }, more: -1, because: 'no alarm on the use of Fargate' },
  { pool: { spot: true }, more: 0, because: 'the alarm on Spot in place of the other' },
  { rest: { defaults: { spot: true } }, more: 0, because: 'as if each pool said so' },
  { pool: { taskRole: { arn: 'arn:aws:iam::1:role/x' } }, more: -2, because: 'no own role' },
  { pool: { bindTaskRole: true }, more: 1, because: 'the policy that binds the role' },
  { aws: { bindTaskRoles: true }, more: 1, because: 'as if each pool said so' },
  {
    pool: { bindTaskRole: false },
    aws: { bindTaskRoles: true },
    more: 0,
    because: 'the pool says otherwise',
  },
  {
    pool: { bindTaskRole: true, taskRole: { arn: 'arn:aws:iam::1:role/x' } },
    more: -2,
    because: 'a role of the user is not bound',
  },
])('counts $more resources more for $pool and $aws: $because', ({ pool = {}, aws = {}, rest = {}, more }) => {
  expect(resources(pool, aws, rest) - NONE).toBe(more);
});

it('counts the resources of a pool, and those that there are once', () => {
  expect(NONE).toBe(76);
  const pools = Array.from({ length: 3 }, (_, index) => ({ ...POOL, name: `p${index}` }));
  expect(resourcesOf(draftConfig({ coder: CODER, aws: AWS, pools }), undefined)).toBe(76 + 2 * 7);
});

it.each([{}, { pools: null }, { pools: 'cpu' }])('counts no pool in %o', (file) => {
  expect(draftConfig(file).pools).toEqual([]);
});

it('counts alarms on the use of both kinds of Fargate if pools have both', () => {
  const pools = [POOL, { ...POOL, name: 'b', spot: true }];
  expect(resourcesOf(draftConfig({ coder: CODER, aws: AWS, pools }), undefined)).toBe(76 + 7 + 1);
});

/** The messages of a check. */
const said = (findings: ReturnType<typeof checkSizes>): readonly string[] =>
  [...findings].map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('a template with too many resources', () => {
  const pools = (count: number, given: object = {}) =>
    Array.from({ length: count }, (_, index) => ({ ...POOL, name: `p${index}`, ...given }));
  const checked = (settings: object) => said(checkResources({ coder: CODER, ...settings }, undefined));
  const begins = (count: number, resources: number): string =>
    `pools: the template of ${count} pools would have ${resources} resources, but CloudFormation accepts at most 500. Split the pools over several files, each with its own stack (aws.stack), or `;
  const MANAGED_KEY = 'give pools a key of their own (3 each)';
  const VPC_OF_YOURS = 'name an existing VPC (about 22)';
  const NO_ALARMS = 'write alarms.enabled: false (about 15)';
  const UNBOUND = 'remove bindTaskRoles (1 for each pool)';
  const ONE_GROUP = 'use one log group (logs.group, 1 for each pool)';

  it.each([
    {
      settings: { pools: pools(46, MANAGED), aws: { bindTaskRoles: true } },
      says: [begins(46, 585), [MANAGED_KEY, VPC_OF_YOURS, NO_ALARMS, UNBOUND, ONE_GROUP].join(', or ')],
    },
    {
      settings: { pools: pools(70), aws: { network: VPC, alarms: { enabled: false } } },
      says: [begins(70, 523), ONE_GROUP],
    },
    {
      settings: { pools: pools(70), aws: { alarms: {} } },
      says: [begins(70, 560), [VPC_OF_YOURS, NO_ALARMS, ONE_GROUP].join(', or ')],
    },
  ])('is told what saves resources: $says', ({ settings, says }) => {
    expect(checked(settings)).toEqual([says.join('')]);
  });

  it('is one with more than 500', () => {
    const fits = { pools: pools(61), aws: { ...AWS, network: VPC } };
    expect(resourcesOf(draftConfig({ coder: CODER, ...fits }), undefined)).toBeLessThanOrEqual(500);
    expect(checked(fits)).toEqual([]);
  });
});

describe('a task definition', () => {
  const checked = (pool: object, caBundle?: string) => said(checkSizes(fileWith(pool), caBundle));
  const KIB = 1024;

  it('has 46 KiB for the CA bundle', () => {
    expect(checked({}, 'x'.repeat(46 * KIB - 6))).toEqual([]);
    expect(checked({}, 'x'.repeat(46 * KIB - 1))).toEqual([
      "coder.caBundle: the CA bundle has 47 KiB, but a task definition (at most 64 KiB) leaves 46 KiB for it; keep only the authorities that coderd's certificate needs",
    ]);
  });

  it.each([
    { pool: { environment: { A: 'x'.repeat(47_074) } }, fits: true },
    { pool: { environment: { A: 'x'.repeat(47_075) } }, fits: false },
    { pool: { environment: { A: 'x'.repeat(46_956) }, secrets: { B: { secret: 's' } } }, fits: true },
    { pool: { environment: { A: 'x'.repeat(46_957) }, secrets: { B: { secret: 's' } } }, fits: false },
  ])('has as much for environment and secrets, with their names: $fits', ({ pool, fits }) => {
    const says =
      "pools.0.environment: the pool's task definition would have about 65 KiB, but ECS accepts at most 64 KiB. environment and secrets may have 46 KiB; shorten them, or put them into the image";
    expect(checked(pool)).toEqual(fits ? [] : [says]);
  });

  it('has room for environment only beside the CA bundle', () => {
    const environment = { A: 'x'.repeat(30_000) };
    expect(checked({ environment })).toEqual([]);
    expect(checked({ environment }, 'x'.repeat(20 * KIB))).toEqual([
      "pools.0.environment: the pool's task definition would have about 68 KiB, but ECS accepts at most 64 KiB. environment and secrets may have 26 KiB; shorten them, or put them into the image",
    ]);
  });
});

describe('the bytes of a template', () => {
  const bytes = (pool: object, aws?: object, caBundle?: string): number =>
    templateBytes(draftConfig(fileWith(pool, aws === undefined ? {} : { aws })), caBundle);
  const base = bytes({});

  it('count each service of a pool, with what is written about it and its secrets', () => {
    expect(base).toBe(80_000 + 7_500 + JSON.stringify(POOL).length + 600 + 47 * 2);
    expect(bytes({ environment: { A: 'é' } }) - base).toBe(',"environment":{"A":"é"}'.length + 1);
    expect(bytes({ secrets: { A: { secret: 's' } } }) - base).toBe(
      ',"secrets":{"A":{"secret":"s"}}'.length + 600,
    );
    const written = JSON.stringify({ ...POOL, ...PARTS }).length;
    expect(bytes(PARTS)).toBe(80_000 + 2 * (7_500 + written + 600) + 54 * 2);
  });

  it('count the CA bundle once, and tags with each resource', () => {
    expect(bytes({}, undefined, 'ca') - base).toBe('"ca"'.length);
    const tags = '{"a":"1"}'.length + 20;
    expect(bytes({}, { tags: { a: '1' } }) - base).toBe((40 + 7) * tags - 47 * 2);
    expect(bytes(PARTS, { tags: { a: '1' } }) - bytes(PARTS)).toBe((40 + 14) * (tags - 2));
  });

  it('may be a megabyte', () => {
    const pool = {
      environment: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`V${i}`, 'x'.repeat(400)])),
    };
    const pools = (count: number) => ({
      coder: CODER,
      pools: Array.from({ length: count }, () => ({ ...POOL, ...pool })),
    });
    expect(said(checkSizes(pools(18), undefined))).toEqual([]);
    expect(said(checkSizes(pools(19), undefined))).toEqual([
      'pools: the template of 19 pools would have about 989 KiB, but CloudFormation accepts at most 1 MB. Shorten environment, secrets or aws.tags, or split the pools over several files, each with its own stack (aws.stack)',
    ]);
  });
});
