/** Lists of the simulated AWS that never end: they are read in part, and say so. */
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readLooks } from '../../cli/adapters/look-log.ts';
import { ACCESS_KEY_OF_A_PERSON } from '../../lab/world/aws-http.ts';
import { VirtualScheduler } from '../../lab/world/base/virtual-scheduler.ts';
import { inProcessPorts } from '../../lab/world/in-process/ports.ts';
import { SecretMetadata } from '../../lambda/adapters/secrets/secret-metadata.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { POOL_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { Service } from '../../lambda/decision/model/snapshot.ts';
import { SecretsManagerKeys } from '../../lambda/keys/adapters/secrets-manager.ts';
import type { Organization, Ports, WantedSecret } from '../../lambda/look/ports.ts';
import { type Lab, type LabOptions, startLab } from '../support/lab.ts';
import { jobId, poolName } from '../support/parts.ts';

const cpu = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 2 };

/** Without AWS's limits of the rate: the simulated pages take no time. */
async function start(options: Partial<LabOptions> = {}) {
  const calls: string[] = [];
  const onRequest: LabOptions['onRequest'] = ({ operation }) => calls.push(operation);
  const lab = await startLab({ pools: [cpu], throttling: false, onRequest, ...options });
  lab.pass(120);
  const count = (operation: string): number => calls.filter((call) => call === operation).length;
  return { lab, calls, count };
}

const TWICE = 'gave one page token twice, so the rest is not read';
const ENDLESS = 'has more than 100 pages, so the rest is not read';

const KINDS = [
  { kind: 'same-token', pages: 2, says: TWICE },
  { kind: 'new-token', pages: 100, says: ENDLESS },
] as const;

describe.each(KINDS)('a list that never ends, with $kind', ({ kind, pages, says }) => {
  it('of services is truncated, and is not read again within a minute', async () => {
    const { lab, count } = await start();
    lab.world.ecs.endlessLists.set('ListServices', kind);
    const { ecs } = lab.ports();
    const truncated = {
      status: 'truncated',
      error: `listing services of cluster "${ecs.cluster}": ListServices ${says}`,
      items: [{ serviceName: lab.world.service('cpu').identity.name }],
    };
    const look = (minutes: number) => ecs.services(undefined, (minutes * 60_000) as EpochMs, ['cpu']);
    expect(await look(0)).toMatchObject(truncated);
    expect(await look(0.9)).toMatchObject(truncated);
    expect(count('ListServices')).toBe(pages);
    lab.world.ecs.endlessLists.clear();
    expect(await look(1)).toMatchObject({ status: 'ok', items: [{}] });
  });

  it('of tasks is truncated', async () => {
    const { lab } = await start();
    lab.world.ecs.endlessLists.set('ListTasks', kind);
    const { ecs } = lab.ports();
    const tasks = await ecs.tasks((await ecs.services()).items);
    const error = `listing tasks of cluster "${ecs.cluster}": ListTasks ${says}`;
    expect(tasks).toMatchObject({ status: 'truncated', error, items: [{}, {}] });
  });

  it.each(['ListSecrets', 'ListSecretVersionIds'])('of %s fails, with its secrets', async (operation) => {
    const { lab, count } = await start();
    const { secrets, timeline } = lab.world;
    const created = timeline.now();
    lab.pass(600);
    secrets.put('coder/keys/cpu', 'hunter2');
    secrets.endlessLists.set(operation, kind);
    const wanted: WantedSecret = {
      ...{ kind: 'key', secret: 'coder/keys/cpu', pool: poolName('cpu'), stack: 'Stack' },
      oldestTaskAt: created,
    };
    const { status, error, items } = await new SecretMetadata(new SecretsManagerClient({})).entries(
      [wanted],
      timeline.now(),
    );
    expect({ status, names: items.map(({ Name }) => Name) }).toEqual({
      status: 'failed',
      names: ['coder/keys/cpu'],
    });
    expect(error).toContain(`${operation} ${says}`);
    expect(count(operation)).toBe(pages);
  });

  it('of the secrets of a stack fails the key function', async () => {
    const { lab, count } = await start();
    lab.world.secrets.create('managed', { [POOL_TAG]: 'cpu', [STACK_TAG]: 'Stack' });
    lab.world.secrets.endlessLists.set('ListSecrets', kind);
    const listed = new SecretsManagerKeys(new SecretsManagerClient({})).ofStack('Stack');
    await expect(listed).rejects.toMatchObject({
      code: 'unanswered',
      message: `listing the secrets of stack Stack: ListSecrets ${says}`,
    });
    expect(count('ListSecrets')).toBe(pages);
  });
});

it('a list of the tasks of a whole cluster has a bound of its own', async () => {
  const pools = Array.from({ length: 21 }, (_, index) => ({
    ...cpu,
    name: `p${index}`,
    tags: { pool: `p${index}` },
  }));
  const { lab } = await start({ pools });
  lab.world.ecs.endlessLists.set('ListTasks', 'new-token');
  const { ecs } = inProcessPorts(lab.world, { scheduler: new VirtualScheduler(lab.world.timeline) })();
  const { error } = await ecs.tasks((await ecs.services()).items);
  expect(error).toContain('ListTasks has more than 300 pages, so the rest is not read');
});

it('a log that never ends fails the command that reads it', async () => {
  const { lab } = await start();
  const { logs } = lab.world;
  logs.put('group', '{"message":"look"}');
  logs.endlessLists.set('FilterLogEvents', 'same-token');
  const credentials = { accessKeyId: ACCESS_KEY_OF_A_PERSON, secretAccessKey: 'x' };
  const client = new CloudWatchLogsClient({ endpoint: lab.awsUrl, region: 'eu-central-1', credentials });
  onTestFinished(() => client.destroy());
  await expect(readLooks(client, { group: 'group', service: undefined }, 0)).rejects.toThrow(
    `reading the log group "group": FilterLogEvents ${TWICE}`,
  );
});

describe('a reading whose time is up', () => {
  const wanted: WantedSecret = {
    ...{ kind: 'key', secret: 'coder/keys/cpu', pool: poolName('cpu'), stack: 'Stack' },
    oldestTaskAt: undefined,
  };
  type Asked = { readonly ports: Ports; readonly lab: Lab; readonly services: readonly Service[] };
  const over = AbortSignal.abort();
  const organizationOf = ({ world }: Asked['lab']): Organization =>
    world.coderd.organizations.named('default');

  it.each<readonly [string, (asked: Asked) => Promise<{ readonly status: string } | undefined>]>([
    ['the build info', ({ ports }) => ports.coderd.buildInfo(over)],
    ['the organizations', ({ ports }) => ports.coderd.organizations(over)],
    ['the jobs', ({ ports, lab }) => ports.coderd.jobs(organizationOf(lab), undefined, over)],
    ['the daemons', ({ ports, lab }) => ports.coderd.daemons(organizationOf(lab), undefined, over)],
    ['previous jobs', ({ ports, lab }) => ports.coderd.jobsByIds(organizationOf(lab), [jobId('a')], over)],
    ['tasks', ({ ports, services }) => ports.ecs.tasks(services, over)],
    ['the services', ({ ports }) => ports.ecs.services(over)],
    [
      'protections',
      ({ ports, lab }) =>
        ports.ecs.protections(
          [...lab.world.ecs.tasks()].map(({ identity }) => identity.arn),
          over,
        ),
    ],
    ['secrets', async ({ ports, lab }) => ports.secrets?.entries([wanted], lab.world.timeline.now(), over)],
  ])('of %s fails without a request', async (_, read) => {
    const { lab, calls } = await start();
    const services = (await lab.ports().ecs.services()).items;
    calls.length = 0;
    expect(await read({ ports: lab.ports(), lab, services })).toMatchObject({ status: 'failed' });
    expect(calls).toEqual([]);
  });

  it('of services fails, and a later look reads them anew', async () => {
    const { lab } = await start();
    const { world } = lab;
    const gate = Promise.withResolvers<void>();
    const time = new AbortController();
    let isSlow = false;
    const ports = inProcessPorts(world, {
      scheduler: new VirtualScheduler(world.timeline),
      ecs: async (answer, operation) => {
        if (isSlow && operation === 'DescribeServices') await gate.promise;
        return answer();
      },
    });
    await ports().ecs.services();
    isSlow = true;
    const late = ports().ecs.services(time.signal);
    lab.pass(10);
    world.ecs.setDesiredCount(world.service('cpu').identity.name, 5);
    time.abort();
    isSlow = false;
    gate.resolve();
    expect(await late).toMatchObject({ status: 'failed' });
    expect((await ports().ecs.services()).items).toMatchObject([{ desiredCount: 5 }]);
  });
});
