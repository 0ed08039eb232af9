/** `autoscaler pause | resume | pin | unpin` over HTTP: their output, and the next plan. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import type { Override } from '../../lambda/decision/model/plan.ts';
import { run, runIn } from '../support/cli-run.ts';
import { type CommandLab, commandLabs } from '../support/command-lab.ts';
import { labConfig, START } from '../support/lab.ts';

const pools = [
  { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 5 },
  { name: 'gpu', organization: 'default', tags: { gpu: 'yes' }, desiredCount: 0, max: 2 },
];
const { file: config, folder, start } = commandLabs();
let lab: CommandLab;
let call: CommandLab['call'];

beforeEach(async () => {
  lab = await start({ pools });
  call = (...args) => lab.callIn({ now: () => START }, ...args);
});

function writeConfig(ofGpu: object): void {
  const written = labConfig(lab.coderdUrl, pools);
  const [cpu, gpu] = written.pools as readonly object[];
  writeFileSync(config, stringify({ ...written, pools: [cpu, { ...gpu, ...ofGpu }] }));
}

const undo = (command: string): string => `autoscaler ${command} gpu --config ${config}`;

/** The plan of the next look. */
async function overridesOf(pool: string): Promise<readonly Override[]> {
  const { code, out } = await call('plan', '--json');
  expect(code).toBe(0);
  const plan: { pools: { name: string; overrides: Override[] }[] } = JSON.parse(out);
  return plan.pools.find(({ name }) => name === pool)?.overrides ?? [];
}

const why = ['--why', 'bad image'];
const said = { until: '2026-03-02T10:00:00.000Z', by: 'ada', why: 'bad image' };
const inWords = 'until 2 March 2026 10:00:00 UTC by ada (bad image)';

describe('an override command', () => {
  it.each([
    {
      args: ['pause', 'gpu', ...why],
      out: `pool "gpu": paused ${inWords}\nUndo it with: ${undo('resume')}\n`,
      override: { kind: 'pause', ...said },
    },
    {
      args: ['pause', 'gpu', '--scale-in', ...why],
      out: `pool "gpu": scale-in paused ${inWords}\nUndo it with: ${undo('resume')}\n`,
      override: { kind: 'pause-scale-in', ...said },
    },
    {
      args: ['pin', 'gpu', '0', ...why],
      out: `pool "gpu": pinned at 0 tasks ${inWords}\nUndo it with: ${undo('unpin')}\n`,
      override: { kind: 'pin', count: 0, ...said },
    },
    {
      args: ['pin', 'gpu', '2', '--at-least', ...why],
      out: `pool "gpu": at least 2 tasks ${inWords}\nUndo it with: ${undo('unpin')}\n`,
      override: { kind: 'floor', count: 2, ...said },
    },
    {
      args: ['pause', 'gpu', '--why', 'ticket: OPS-1 @night', '--by', 'grace', '--for', '30m'],
      out: `pool "gpu": paused until 2 March 2026 09:30:00 UTC by grace (ticket: OPS-1 @night)\nUndo it with: ${undo('resume')}\n`,
      override: {
        kind: 'pause',
        until: '2026-03-02T09:30:00.000Z',
        by: 'grace',
        why: 'ticket: OPS-1 @night',
      },
    },
  ])('shows the override in the next plan after $args', async ({ args, out, override }) => {
    expect(await call(...args)).toEqual({ code: 0, out, err: '' });
    expect(await overridesOf('gpu')).toEqual([override]);
    expect(await overridesOf('cpu')).toEqual([]);
  });
});

it('applies an override until it is undone', async () => {
  const desired = () => lab.world.service('gpu').state.desiredCount;
  await call('pin', 'gpu', '2', ...why);
  await lab.run(60);
  expect(desired()).toBe(2);
  await call('pause', 'gpu', ...why);
  await lab.run(120);
  expect(desired()).toBe(2);
  await call('resume', 'gpu');
  await call('unpin', 'gpu');
  await lab.run(300);
  expect(desired()).toBe(0);
});

it('replaces characters of the user name that a tag does not allow', async () => {
  const environment = { AUTOSCALER_CLUSTER: lab.world.ecs.clusterName, USER: 'CORP\\ada#1' };
  const { out } = await runIn({ environment }, 'pause', 'gpu', '--config', config, ...why);
  expect(out).toContain('by CORP-ada-1 (bad image)');
});

it('repeats --cluster in the undo command', async () => {
  const cluster = lab.world.ecs.clusterName;
  const { out } = await run('pause', 'gpu', '--config', config, '--cluster', cluster, ...why);
  expect(out).toContain(`Undo it with: ${undo('resume')} --cluster ${cluster}\n`);
});

it('replaces an old pause with a new one', async () => {
  await call('pause', 'gpu', ...why);
  await call('pause', 'gpu', '--scale-in', '--why', 'only this', '--by', 'grace', '--for', '2h');
  expect(await overridesOf('gpu')).toEqual([
    { kind: 'pause-scale-in', until: '2026-03-02T11:00:00.000Z', by: 'grace', why: 'only this' },
  ]);
});

it('names the stronger override', async () => {
  await call('pin', 'gpu', '1', ...why);
  const { out } = await call('pin', 'gpu', '2', '--at-least', ...why);
  expect(out).toBe(
    `pool "gpu": at least 2 tasks ${inWords}\nUndo it with: ${undo('unpin')}\nIt has no effect while the pool has a stronger override: pinned at 1 task ${inWords}\n`,
  );
});

describe('an undo command', () => {
  it('ends both kinds of pause and keeps a pin with resume', async () => {
    await call('pin', 'gpu', '1', ...why);
    await call('pause', 'gpu', '--scale-in', ...why);
    expect(await call('resume', 'gpu')).toEqual({
      code: 0,
      out: `pool "gpu": ended this override: scale-in paused ${inWords}\n`,
      err: '',
    });
    expect(await overridesOf('gpu')).toEqual([{ kind: 'pin', count: 1, ...said }]);
  });

  it('ends pin and floor and keeps a pause with unpin', async () => {
    await call('pin', 'gpu', '1', ...why);
    await call('pin', 'gpu', '2', '--at-least', ...why);
    await call('pause', 'gpu', ...why);
    expect((await call('unpin', 'gpu')).out).toBe(
      [
        `pool "gpu": ended this override: pinned at 1 task ${inWords}`,
        `pool "gpu": ended this override: at least 2 tasks ${inWords}`,
        '',
      ].join('\n'),
    );
    expect(await overridesOf('gpu')).toEqual([{ kind: 'pause', ...said }]);
  });

  it.each([
    [
      'resume',
      'pool "gpu" is not paused. Its ECS service has no such tags. If it was paused in the last minute, try again in a minute\n',
    ],
    [
      'unpin',
      'pool "gpu" is not pinned. Its ECS service has no such tags. If it was pinned in the last minute, try again in a minute\n',
    ],
  ])('reports that there is nothing to undo: %s', async (command, out) => {
    expect(await call(command, 'gpu')).toEqual({ code: 0, out, err: '' });
  });

  it('removes an invalid override with resume', async () => {
    const service = lab.world.service('gpu');
    const { tags } = service.state;
    service.setTags({ ...tags, 'coder-autoscaler:pause': 'everything' });
    expect((await call('resume', 'gpu')).out).toBe(
      'pool "gpu" is not paused. Removed the tags of an expired or invalid override\n',
    );
    expect(service.state.tags).toEqual(tags);
  });
});

describe('an override that fails with one line and changes nothing', () => {
  it.each([
    {
      scenario: 'an unknown pool',
      args: ['pause', 'gpuu', ...why],
      err: 'finding pool "gpuu": the configuration has only cpu, gpu. Name one of them\n',
    },
    {
      scenario: 'a count above max',
      args: ['pin', 'gpu', '3', ...why],
      err: 'pinning pool "gpu" to 3: its max is 2. Pin it to 2 or less, or raise max in the configuration\n',
    },
  ])('refuses $scenario', async ({ args, err }) => {
    expect(await call(...args)).toEqual({ code: 1, out: '', err });
    expect(await overridesOf('gpu')).toEqual([]);
  });

  it('refuses to pin a retiring pool', async () => {
    writeConfig({ retiring: true });
    expect(await call('pin', 'gpu', '1', ...why)).toEqual({
      code: 1,
      out: '',
      err: 'pinning pool "gpu" to 1: the pool is retiring and launches nothing. Remove "retiring" from the configuration first\n',
    });
  });

  it('refuses a pool without a service', async () => {
    lab.world.ecs.deleteService(lab.world.service('gpu').identity.name);
    expect(await call('pause', 'gpu', ...why)).toEqual({
      code: 1,
      out: '',
      err: 'finding the service of pool "gpu": no active service of the cluster has the tag coder-autoscaler:pool=gpu. Deploy the configuration, or name another cluster with --cluster\n',
    });
  });

  it('refuses a pool with two services', async () => {
    const [cpu, gpu] = [lab.world.service('cpu'), lab.world.service('gpu')];
    cpu.setTags(gpu.state.tags);
    const { code, err } = await call('pause', 'gpu', ...why);
    expect({ code, err }).toEqual({
      code: 1,
      err: `finding the service of pool "gpu": 2 services have its tag (${cpu.identity.name}, ${gpu.identity.name}). Keep the tag on one of them\n`,
    });
  });

  it.each([
    { command: ['pause', 'gpu', ...why], permission: 'ecs:TagResource' },
    { command: ['resume', 'gpu'], permission: 'ecs:UntagResource' },
  ])('fails without the permission $permission', async ({ command, permission }) => {
    await call('pause', 'gpu', '--why', 'before');
    const { tags } = lab.world.service('gpu').state;
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'the function');
    const { arn } = lab.world.service('gpu').identity;
    const { code, err } = await call(...command);
    expect(code).toBe(1);
    expect(err).toMatch(/^changing the tags of service arn:aws:ecs:.*: AccessDeniedException: /);
    expect(err).toMatch(new RegExp(`; ask for ${permission} on ${arn}\n$`));
    expect(lab.world.service('gpu').state.tags).toEqual(tags);
  });

  it('fails without credentials', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'));
    const { code, err } = await call('pause', 'gpu', ...why);
    expect(code).toBe(1);
    expect(err).toMatch(/^finding AWS credentials: Could not load credentials from any providers/);
    expect(err).toMatch(/\. Sign in to AWS first \(for example with aws sso login\) and set AWS_PROFILE\n$/);
  });

  it('fails for an unknown cluster', async () => {
    const { code, err } = await run('pause', 'gpu', '--config', config, '--cluster', 'nowhere', ...why);
    expect({ code, err }).toEqual({
      code: 1,
      err: 'listing services of cluster "nowhere": ClusterNotFoundException: Cluster not found. Give the name of the cluster with --cluster (an output of the stack)\n',
    });
  });
});

it('prints what it set and what it ended as one JSON document with --json', async () => {
  const set = await call('pin', 'gpu', '2', '--why', 'workshop', '--by', 'ada', '--json');
  expect(JSON.parse(set.out)).toMatchObject({
    ...{ version: 1, pool: 'gpu', ended: [] },
    set: { kind: 'pin', count: 2, by: 'ada', why: 'workshop' },
  });
  const ended = await call('unpin', 'gpu', '--json');
  expect(JSON.parse(ended.out)).toMatchObject({ pool: 'gpu', set: null, ended: [{ kind: 'pin', count: 2 }] });
});

describe('wrong usage', () => {
  it.each([
    { args: ['pause', 'gpu'], message: /required option '--why <text>' not specified/ },
    { args: ['pause', 'gpu', '--why', ' '], message: /It is empty. Write a text that everyone understands/ },
    {
      args: ['pause', 'gpu', '--why', 'broken (again)'],
      message: /It becomes an AWS tag, but a tag can not hold "\(", only letters, digits, spaces and/,
    },
    {
      args: ['pause', 'gpu', ...why, '--by', 'x'.repeat(257)],
      message: /it has 257 characters; a tag holds 256/,
    },
    { args: ['pause', 'gpu', ...why, '--for', '59s'], message: /Allowed: 1m to 720h \(30 days\)/ },
    { args: ['pause', 'gpu', ...why, '--for', '721h'], message: /Allowed: 1m to 720h \(30 days\)/ },
    { args: ['pause', 'gpu', ...why, '--for', 'ever'], message: /Write a whole number and its unit/ },
    { args: ['pin', 'gpu', ...why], message: /missing required argument 'count'/ },
    { args: ['pin', 'gpu', '1.5', ...why], message: /Write a whole number of tasks/ },
    { args: ['pin', 'gpu', '-1', ...why], message: /Write a whole number of tasks/ },
  ])('exits with 2 for $args', async ({ args, message }) => {
    const { code, out, err } = await call(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
  });
});
