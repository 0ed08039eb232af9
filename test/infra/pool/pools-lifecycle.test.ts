/** Compares the changes that each setting makes in AWS with docs/upgrade.md. */
import { readFileSync } from 'node:fs';
import { ResourceImpact } from '@aws-cdk/cloudformation-diff';
import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../infra/constructs/settings.ts';
import { rows as someRows } from '../../support/runs.ts';
import {
  arnOf,
  cpu,
  deployment,
  EXISTING,
  gpu,
  type PoolSettings,
  synthesize,
} from '../support/synthesized.ts';
import {
  changesBetween,
  DELETING,
  propertiesOf,
  type Resources,
  USED_BY_TASKS,
} from '../support/template-changes.ts';

type Step = { readonly change: string; readonly from?: Settings; readonly to: Settings };

const before = deployment([cpu, gpu]);
const pool = (change: Partial<PoolSettings>): Settings => deployment([{ ...cpu, ...change }, gpu]);
const aws = (change: NonNullable<Settings['aws']>): Settings => deployment([cpu, gpu], change);
const { vpc, subnets } = EXISTING.aws?.network ?? {};

const STEPS: readonly Step[] = [
  { change: 'nothing', to: before },
  {
    change: '`max`, `min`, `warm`, `waiting`, `idleTimeout`, `schedules`, `wake`, `limits`, `looks`',
    to: {
      ...pool({
        max: 50,
        min: 2,
        warm: 1,
        waiting: { person: 1 },
        idleTimeout: '10m',
        wake: false,
        schedules: [{ days: 'mon-fri', from: '08:00', to: '18:00', timezone: 'Europe/Berlin', warm: 3 }],
      }),
      limits: { maxTasks: 70 },
      looks: { every: '5s' },
    },
  },
  { change: '`tags` of a pool (its key has them too: see `key`)', to: pool({ tags: { size: 'large' } }) },
  { change: '`retiring: true`', to: pool({ retiring: true }) },
  { change: '`image`', to: pool({ image: 'ghcr.io/coder/coder:v2.31.0' }) },
  {
    change: '`cpu`, `memory`, `architecture`, `ephemeralStorage`',
    to: pool({ cpu: 2048, memory: 4096, architecture: 'x86_64', ephemeralStorage: 40 }),
  },
  {
    change: '`environment`',
    to: pool({ environment: { TF_LOG: 'warn' } }),
  },
  { change: '`key` or `secrets` (another secret)', to: pool({ key: { secret: 'coder/keys/cpu-2' } }) },
  {
    change: '`psk` or `token` instead of `key`',
    to: pool({ key: undefined, token: { secret: 'coder/daemon-token' } }),
  },
  {
    change: '`tags` of a pool with `psk` or `token`',
    from: pool({ key: undefined, psk: { secret: 'coder/psk' } }),
    to: pool({ key: undefined, psk: { secret: 'coder/psk' }, tags: { size: 'large' } }),
  },
  { change: '`coder.url`', to: { ...before, coder: { ...before.coder, url: 'https://builds.example.com' } } },
  {
    change: '`coder.token` (another secret), `coder.proxy`',
    to: {
      ...before,
      coder: { ...before.coder, token: { secret: 'other' }, proxy: 'http://proxy.internal:3128' },
    },
  },
  { change: '`organization`', to: pool({ organization: 'data' }) },
  { change: '`spot`', to: pool({ spot: true }) },
  { change: '`capacity: { provider }`', to: pool({ capacity: { provider: 'builders' } }) },
  { change: '`capacity` added', to: pool({ capacity: ['spot', 'on-demand'] }) },
  {
    change: '`capacity` removed',
    from: pool({ capacity: ['spot', 'on-demand'] }),
    to: pool({}),
  },
  {
    change: '`taskRole.policies`',
    to: pool({ taskRole: { policies: ['arn:aws:iam::aws:policy/ReadOnlyAccess'] } }),
  },
  {
    change: '`bindTaskRole` of a pool turned on (`aws.bindTaskRoles`: of all pools)',
    to: pool({ bindTaskRole: true }),
  },
  {
    change: '`taskRole.arn` instead of a role of its own',
    to: pool({ taskRole: { arn: 'arn:aws:iam::123456789012:role/terraform' } }),
  },
  { change: 'one more pool', to: deployment([cpu, gpu, { ...gpu, name: 'new', tags: { gpu: 'new' } }]) },
  { change: 'a pool removed', to: deployment([gpu]) },
  {
    change: '`aws.network.subnets`, `securityGroups`',
    from: EXISTING,
    to: {
      ...EXISTING,
      aws: {
        ...EXISTING.aws,
        network: {
          ...EXISTING.aws?.network,
          subnets: ['subnet-00000000000000001'],
          securityGroups: ['sg-00000000000000001'],
        },
      },
    },
  },
  {
    change: '`aws.network.natGateways`, `endpoints`',
    to: aws({ network: { natGateways: 2, endpoints: true } }),
  },
  {
    change: '`aws.network.vpc` (another network)',
    to: aws({ network: { vpc: vpc ?? '', subnets: [...(subnets ?? [])] } }),
  },
  { change: '`aws.cluster`', to: aws({ cluster: 'platform' }) },
  {
    change: '`aws.logs.retentionDays`, `aws.kmsKey`',
    to: aws({
      logs: { retentionDays: 90 },
      kmsKey: arnOf('kms', 'key/01234567-89ab-cdef-0123-456789abcdef'),
    }),
  },
  { change: '`aws.logs.group`', to: aws({ logs: { group: '/platform/coder' } }) },
  {
    change: '`aws.permissionsBoundary`',
    to: aws({ permissionsBoundary: 'arn:aws:iam::123456789012:policy/boundary' }),
  },
  {
    change: '`aws.function.memory`',
    to: aws({ function: { memory: 1024 } }),
  },
  { change: '`aws.guardDuty`', to: aws({ guardDuty: true }) },
  { change: '`aws.earlySuccess`', to: aws({ earlySuccess: true }) },
  { change: '`aws.alarms`', to: aws({ alarms: { enabled: false } }) },
  { change: '`aws.tags`', to: aws({ tags: { team: 'platform' } }) },
  { change: '`aws.metrics.perPool`', to: aws({ metrics: { perPool: true } }) },
];

const rows = readFileSync('docs/upgrade.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()));

const standing = propertiesOf(synthesize(before));

describe('a deployment that changes', () => {
  it.each(STEPS)(
    '$change replaces and removes what docs/upgrade.md says',
    ({ change, from = before, to }) => {
      const { replaced, removed, inPlace, created } = changesOf(from, to);
      const row = rows.find(([first = '']) => first.split('; ').includes(change));
      expect(row?.slice(1, 3)).toEqual([replaced, removed]);
      expect(`in place: ${inPlace}; created: ${created}`).toMatchSnapshot();
    },
  );
});

/**
 * Changes that stop the tasks of a pool or remove their network, as docs/upgrade.md describes.
 */
const NOT_ROLLED = [
  'a pool removed',
  '`capacity` removed',
  '`aws.cluster`',
  '`aws.network.vpc` (another network)',
];

describe('with early success, while old tasks are still there, a deployment that changes', () => {
  const early = (settings: Settings): Settings => ({
    ...settings,
    aws: { ...settings.aws, earlySuccess: true },
  });
  const standing = propertiesOf(synthesize(early(before)));
  const rolled = STEPS.filter(({ change }) => !NOT_ROLLED.includes(change));

  it.each(someRows(rolled, 4))('$change deletes nothing that old tasks use', ({ from, to }) => {
    const old = from === undefined ? standing : propertiesOf(synthesize(early(from)));
    const now = propertiesOf(synthesize(early(to)));
    const kinds = changesBetween(old, now)
      .filter(({ impact }) => DELETING.has(impact))
      .map(({ type }) => type);
    // running tasks do not need the revision that they were started from
    expect(kinds.filter((kind) => USED_BY_TASKS.test(kind) && kind !== 'AWS::ECS::TaskDefinition')).toEqual(
      [],
    );
  });
});

/** The types of the resources that a change replaces, changes in place, creates and removes. */
function changesOf(from: Settings, to: Settings): Readonly<Record<string, string>> {
  const old = from === before ? standing : propertiesOf(synthesize(from));
  const now = propertiesOf(synthesize(to));
  const changes = changesBetween(old, now);
  const { WILL_REPLACE, MAY_REPLACE, WILL_UPDATE, WILL_CREATE, WILL_DESTROY, WILL_ORPHAN } = ResourceImpact;
  const having = (...impacts: ResourceImpact[]): string[] =>
    changes.filter(({ impact }) => impacts.includes(impact)).map(({ id }) => id);
  const replaced = having(WILL_REPLACE, MAY_REPLACE);
  const updated = [...having(WILL_UPDATE), ...namersOf(replaced, now)];
  const inPlace = updated.filter((id) => !replaced.includes(id) && old[id] !== undefined);
  return {
    replaced: summaryOf(replaced, old),
    inPlace: summaryOf(inPlace, old),
    created: summaryOf(having(WILL_CREATE), now),
    removed: summaryOf(having(WILL_DESTROY, WILL_ORPHAN), old),
  };
}

/** The resources that refer to these. CloudFormation updates them with the new names. */
function namersOf(ids: readonly string[], resources: Resources): string[] {
  return Object.keys(resources).filter((id) => {
    const text = JSON.stringify(resources[id]?.Properties ?? {});
    return ids.some(
      (named) => text.includes(`{"Ref":"${named}"}`) || text.includes(`{"Fn::GetAtt":["${named}"`),
    );
  });
}

/** The types of the resources as text. All resources of a network become one word. */
function summaryOf(ids: readonly string[], resources: Resources): string {
  const kinds = ids
    .map((id) => resources[id]?.Type ?? '')
    .map((type) => (type.startsWith('AWS::EC2::') ? 'network' : type.split('::').slice(1).join(' ')));
  return [...new Set(kinds)].sort().join(', ') || '–';
}
