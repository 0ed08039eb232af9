import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { nodeProblem } from '../../cli/node-floor.mjs';
import { missingPackage } from '../../cli/program.ts';
import { encodeRecord } from '../../lambda/adapters/parameters/record-parameter.ts';
import type { PoolName } from '../../lambda/decision/model/brands.ts';
import { recordNameOf } from '../../lambda/decision/model/service-tags.ts';
import { run, runIn } from '../support/cli-run.ts';
import { type Lab, labConfig, startLab } from '../support/lab.ts';
import { ownFolder } from '../support/own-folder.ts';
import { draw } from '../support/picture.ts';

const folder = ownFolder();
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const drawn = draw({
  pools: {
    cpu: { tasks: 'B B', max: 3, min: 1 },
    gpu: { tasks: 'I20m X', tags: { cluster: 'gpu' }, min: 1, warm: 0 },
    'gpu-eu': { tasks: 'I20m I30m', tags: { cluster: 'gpu', region: 'eu' }, min: 1 },
    quiet: { organization: 'data', min: 1, tasks: 'I1m' },
  },
  pending: [
    { jobs: 5, ageS: 150 },
    { jobs: 2, tags: { cluster: 'tpu', region: 'eu' }, ageS: 200 },
  ],
});
const config = file('good.yaml', stringify(drawn.config));
const snapshot = file('snapshot.json', JSON.stringify(drawn.snapshot));

describe('plan --snapshot', () => {
  it('prints one line per pool, like a Terraform plan', async () => {
    const { code, out, err } = await run('plan', '--snapshot', snapshot, '--config', config);
    expect(out.split('\n')).toEqual([
      'plan for 20 November 2026 09:00:00 UTC',
      '',
      '  + cpu     2 -> 3  5 pending jobs need a new task; needs 7 tasks, limited to 3 by max (2 busy)',
      '  - gpu     2 -> 1  min keeps 1 task; 1 task has drained (1 idle, 1 left)',
      '  ~ gpu-eu  2       min keeps 1 task; draining 1 idle daemon (2 idle)',
      '    quiet   1       min keeps 1 task (1 idle)',
      '',
      'unschedulable jobs:',
      '  ! organization "default", tags cluster=tpu, region=eu: 2 jobs (workspace_build), the oldest waits for 3 min. The closest pool is "gpu-eu": it lacks cluster=tpu (has cluster=gpu). coderd fails the oldest at 20 November 2026 09:26:40 UTC',
      '',
      'when pending jobs start, in the order of the queue:',
      expect.stringMatching(
        /^ {4}job \S+ of organization "default" \(untagged\): starts in about \d+ s, in most cases within \d+ s$/,
      ),
      expect.stringMatching(/^ {4}4 jobs of organization "default" \(untagged\): start unknown: /),
      '',
      '1 count to raise, 1 task to drain, 1 count to lower',
      '',
    ]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  it('prints one JSON document with --json', async () => {
    const { code, out } = await run('plan', '--snapshot', snapshot, '--config', config, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      pools: [{ name: 'cpu', desired: { from: 2, to: 3 } }, {}, {}, {}],
    });
  });

  it.each([
    {
      scenario: 'a missing file',
      text: undefined,
      message: /reading the snapshot .*nowhere.json: ENOENT.*\. Write one with autoscaler plan --save FILE/,
    },
    { scenario: 'an empty file', text: '', message: /it is empty/ },
    { scenario: 'a file that is not JSON', text: '{"version": 1,', message: /it is not JSON \(/ },
    { scenario: 'another document', text: '{"version": 1}', message: /reading the snapshot: takenAt: / },
  ])('prints one error and exits with 1 for $scenario', async ({ text, message }) => {
    const path = text === undefined ? join(folder, 'nowhere.json') : file('bad.json', text);
    const { code, out, err } = await run('plan', '--snapshot', path, '--config', config);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(message);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});

describe('validate', () => {
  it('prints the pools of a valid configuration', async () => {
    const { code, err, out } = await run('validate', config);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n')[0]).toBe(`${config}: valid; 4 pools: cpu, gpu, gpu-eu, quiet`);
  });

  const priced = file(
    'priced.yaml',
    stringify({
      coder: { url: 'https://coder.example.com', token: { secret: 'coder/token' } },
      limits: { maxTasks: 30 },
      pools: [
        { name: 'default', organization: 'default', key: { secret: 'k' }, max: 20 },
        { name: 'cold', organization: 'data', key: { secret: 'l' }, max: 5, warm: 0 },
        { name: 'dear', organization: 'ml', key: { secret: 'm' }, max: 5, waiting: { person: 1 } },
      ],
    }),
  );

  it('gives the cost of a month without builds, and no figure for builds that nobody stated', async () => {
    const { code, out } = await run('validate', priced);
    expect(code).toBe(0);
    expect(out).toContain(
      'cost of the deployment: an idle month $42 (NAT gateways $37, Secrets Manager $2, metrics $2, others $1).\nAdd --builds-per-day N',
    );
  });

  it('estimates the cost for a given number of builds, with its assumptions', async () => {
    const { code, out } = await run('validate', priced, '--builds-per-day', '720');
    expect(code).toBe(0);
    expect(out).toContain(
      '; with 720 builds on a working day $123 (Fargate tasks $71, NAT gateways $43, metrics $2, others $7).\nAssumed: ',
    );
    const json = await run('validate', priced, '--builds-per-day', '720', '--json');
    expect(JSON.parse(json.out)).toMatchObject({
      pools: ['default', 'cold', 'dear'],
      dollarsPerMonth: { idle: expect.closeTo(42, 0), buildsPerDay: 720, usual: expect.closeTo(123, 0) },
    });
  });

  it('separates thousands, and names the quota of vCPUs that a large pool needs', async () => {
    const { coder } = parse(readFileSync(priced, 'utf8'));
    const pool = {
      name: 'default',
      organization: 'default',
      key: { secret: 'k' },
      max: 1_000_000,
      min: 5000,
    };
    const huge = { coder, limits: { maxTasks: 1_000_000 }, pools: [pool] };
    const { out } = await run('validate', file('huge.yaml', stringify(huge)), '--builds-per-day', '50000');
    expect(out).toMatch(
      / an idle month \$\d{3},\d{3} \(Fargate tasks \$\d{3},\d{3}, .*; with 50,000 builds /,
    );
    expect(out).toContain(
      '\nAt their limits the pools use 1,000,000 on-demand vCPUs at once. The quota of a new account is 6: autoscaler setup requests more, and autoscaler doctor shows yours.\n',
    );
    const small = { coder, pools: [{ ...pool, max: 6, min: 0 }] };
    expect((await run('validate', file('small.yaml', stringify(small)))).out).not.toContain('quota');
  });

  it('says of which pools the price is not the bill', async () => {
    const pool = { organization: 'default', key: { secret: 'k' } };
    const pools = [
      { ...pool, name: 'both', capacity: ['spot', 'on-demand'] },
      { ...pool, name: 'own', key: { secret: 'm' }, tags: { a: '1' }, capacity: { provider: 'builders' } },
      { ...pool, name: 'spot', key: { secret: 'l' }, tags: { a: '2' }, spot: true },
    ];
    const { coder } = parse(readFileSync(priced, 'utf8'));
    const path = file('capacity.yaml', stringify({ coder, pools }));
    const notes = [
      'All tasks of both have the price of Spot. While Spot fails, they cost over three times as much',
      'Tasks of own have a price by the hour. AWS bills the hours of their instances instead',
    ];
    expect((await run('validate', path)).out).toContain(
      `\n${notes.join('.\n')}.\nPrices are those of us-east-1`,
    );
    expect(JSON.parse((await run('validate', path, '--json')).out)).toMatchObject({
      dollarsPerMonth: { notes },
    });
  });

  it('warns that jobs will wait if max and maxTasks are too low', async () => {
    const { out } = await run('validate', priced, '--builds-per-day', '100000');
    expect(out).toContain('. These builds need more tasks than max and maxTasks allow: jobs will wait.\n');
  });

  it('prints the position of a mistake and exits with 1', async () => {
    const bad = file(
      'bad.yaml',
      readFileSync(config, 'utf8').replace('idleTimeout: 10m', 'idelTimeout: 10m'),
    );
    const { code, out, err } = await run('validate', bad);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /bad\.yaml:\d+:\d+: pools\[0\]\.idelTimeout: unknown setting; did you mean "idleTimeout"\?/,
    );
  });
});

describe('an option of every command', () => {
  const commands = [
    ...['validate', 'plan', 'status', 'doctor', 'backtest'].map((name) => [name]),
    ...['pause', 'resume', 'pin', 'unpin'].map((name) => [name]),
    ...['export', 'generate', 'check'].map((name) => ['trace', name]),
  ];

  /** Commands that read no configuration. */
  const without = new Set(['generate', 'check']);

  it.each(commands.filter((command) => !without.has(command.at(-1) ?? '')))(
    '%s has --config',
    async (...command) => {
      const { out } = await run(...command, '--help');
      expect(out).toMatch(/^ {2}--config <file> /m);
    },
  );

  it('marks a required option in the help', async () => {
    expect((await run('pause', '--help')).out).toMatch(/^ {2}--why <text> .*\(required\)$/m);
  });
});

describe('--version', () => {
  it.each(['--version', '-V'])('prints the version of the package for %s', async (option) => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await run(option)).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });
});

describe('a missing or unreadable configuration', () => {
  it('says what to do when there is no file', async () => {
    const { code, out, err } = await run('validate', '--config', join(folder, 'none.yaml'));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /no such file; write one with autoscaler setup --draft, or name another file with --config\n$/,
    );
  });

  it.each([
    {
      scenario: 'Latin-1',
      bytes: Buffer.from('coder:\n  url: caf\xe9\n', 'latin1'),
      says: /not UTF-8 \(line 2\); save/,
    },
    {
      scenario: 'UTF-16',
      bytes: Buffer.from('\ufeffcoder:\n', 'utf16le'),
      says: /not UTF-8 but perhaps UTF-16/,
    },
  ])('says that a file in $scenario is not UTF-8', async ({ bytes, says }) => {
    const path = join(folder, 'other.yaml');
    writeFileSync(path, bytes);
    const { code, err } = await run('validate', path);
    expect(code).toBe(1);
    expect(err).toMatch(says);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  it('reads a snapshot with a byte order mark, and refuses one in UTF-16', async () => {
    const path = join(folder, 'marked.json');
    writeFileSync(path, `\ufeff${readFileSync(snapshot, 'utf8')}`);
    expect((await run('plan', '--snapshot', path, '--config', config)).code).toBe(0);
    writeFileSync(path, Buffer.from(readFileSync(snapshot, 'utf8'), 'utf16le'));
    const { code, err } = await run('plan', '--snapshot', path, '--config', config);
    expect(code).toBe(1);
    expect(err).toMatch(/not UTF-8 but perhaps UTF-16; save the file as UTF-8/);
  });
});

describe('validate --json', () => {
  it('prints the pools and the cost', async () => {
    const { code, out } = await run('validate', '--config', config, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      isValid: true,
      problems: [],
      pools: ['cpu', 'gpu', 'gpu-eu', 'quiet'],
      dollarsPerMonth: { idle: expect.any(Number) },
    });
  });

  it('prints the mistakes of an invalid file and exits with 1', async () => {
    const bad = file('bad-json.yaml', 'coder: {');
    const { code, out, err } = await run('validate', bad, '--json');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(JSON.parse(out)).toMatchObject({ isValid: false, problems: [{ severity: 'error', line: 1 }] });
  });

  it('checks the file that AUTOSCALER_CONFIG names if none is given', async () => {
    const given = { environment: { AUTOSCALER_CONFIG: config } };
    expect((await runIn(given, 'validate')).out).toMatch(new RegExp(`^${config}: valid`));
    const bad = file('bad-named.yaml', 'coder: {');
    expect((await runIn(given, 'validate', bad)).err).toContain('bad-named.yaml');
  });

  it('refuses two configuration files', async () => {
    const { code, err } = await run('validate', config, '--config', 'other.yaml');
    expect(code).toBe(2);
    expect(err).toMatch(/two configuration files given/);
  });
});

describe('wrong usage', () => {
  it.each([
    [['paln'], /unknown command 'paln'/],
    [['sizes'], /^error: "autoscaler sizes" has ended; AWS Compute Optimizer /],
    [['image', '--out', 'x'], /^error: "autoscaler image" has ended; docs\/upgrade.md, /],
    [['plan', '--jsno'], /unknown option '--jsno'/],
    [['init', '--url', 'x'], /^error: "autoscaler init" has ended; use "autoscaler setup --draft"\n$/],
    [['setup', '--draft', '--print'], /'--draft' cannot be used with option '--print'/],
    [['setup', '--yes', '--proxy', 'x'], /^error: --token-secret, --key-prefix, .* need --draft\n$/],
    [['snapshot'], /^error: "autoscaler snapshot" has ended; use "autoscaler plan --save FILE"\n$/],
    [
      ['orphans', '--days', '3'],
      /^error: "autoscaler orphans" has ended; use "autoscaler explain --dead"\n$/,
    ],
    [['keys', 'check', '--json'], /^error: "autoscaler keys check" has ended; use "autoscaler doctor"\n$/],
    [['explain'], /^error: explain needs the id of one job, or --dead/],
    [['explain', '4d2c1a5e', '--dead'], /^error: explain needs the id of one job, or --dead/],
    [['schema', '--json'], /^error: "autoscaler schema" has ended; use "autoscaler validate --schema"\n$/],
    [
      ['compare', 'a', 'b'],
      /^error: "autoscaler compare" has ended; use "autoscaler backtest --before BEFORE --config AFTER"\n$/,
    ],
    [['trace', 'import', 'x.csv'], /^error: "autoscaler trace import" has ended; jq writes a trace/],
    [['plan', '--config'], /argument missing/],
    [['plan', '--save', '-'], /--save writes a file, and the plan goes to standard output/],
    [['plan', '--save', 'a', '--snapshot', 'b'], /'--save <file>' cannot be used with .*'--snapshot <file>'/],
    [['trace', 'generate', '--out', '--days', '3'], /^error: --out needs a value \(file\)/],
    [['validate', '--builds-per-day', '-5'], /Write a whole number, 0 or more/],
    [['validate', '--builds-per-day', 'many'], /Write a whole number, 0 or more/],
    [['plan', '--at', '2026-03-02T08:58:00Z'], /^error: "autoscaler plan --at" has ended; /],
  ])('exits with 2 for %j', async (args, message) => {
    const { code, err } = await run(...args);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});

it('prints the JSON Schema of the repository with validate --schema', async () => {
  const { code, out } = await run('validate', '--schema');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(
    JSON.parse(readFileSync(new URL('../../autoscaler.schema.json', import.meta.url), 'utf8')),
  );
});

describe('a live look', () => {
  const pools = [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }];
  let lab: Lab;
  let liveConfig: string;
  beforeAll(async () => {
    lab = await startLab({ pools });
    liveConfig = file('live.yaml', stringify(labConfig(lab.coderdUrl, pools)));
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 1000 });
  });
  afterAll(() => lab.close());

  it('saves a snapshot that gives the same plan as the look itself', async () => {
    const out = join(folder, 'taken.json');
    const cluster = lab.world.ecs.clusterName;
    const live = await run(
      ...['plan', '--config', liveConfig, '--cluster', cluster, '--json', '--save', out],
    );
    const later = await run('plan', '--config', liveConfig, '--snapshot', out, '--json');
    expect(live).toMatchObject({ code: 0, err: `wrote ${out}\n` });
    expect(JSON.parse(live.out)).toEqual(JSON.parse(later.out));
    expect(lab.world.service('cpu').state.desiredCount).toBe(0);
  });

  it('plans with what the function has learned, and says if it may not be read', async () => {
    const { coderd, parameters, stackName, ecs } = lab.world;
    const choice = {
      organizationId: coderd.organizationId('default'),
      pools: ['cpu' as PoolName],
      rule: { free: 2, spareMs: 300_000, afterBuildMs: null, countsBusy: false },
      ...{ builds: 40, hours: 30, tasks: 0.1, waiting: 0.2, others: [] },
    };
    const record = encodeRecord({ organizations: [], choices: [choice] }) ?? '';
    parameters.put(recordNameOf(stackName), record, 'Advanced');
    const cpu = { name: 'cpu', organization: 'default', key: { secret: 'coder/keys/cpu' } };
    const auto = file('auto.yaml', stringify({ ...labConfig(lab.coderdUrl, pools), pools: [cpu] }));
    const plan = () => run('plan', '--config', auto, '--cluster', ecs.clusterName);
    expect((await plan()).out).toMatch(/free, learned from 40 builds in 30 h …/);
    parameters.deny(recordNameOf(stackName));
    const { code, err } = await plan();
    parameters.permit(recordNameOf(stackName));
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(
        /^note: the function may keep another number .* You need ssm:GetParameters\n$/,
      ),
    });
    const newer = deflateRawSync('{"version":2}').toString('base64');
    parameters.put(recordNameOf(stackName), newer, 'Advanced');
    const later = await plan();
    parameters.delete(recordNameOf(stackName));
    expect(later).toMatchObject({ code: 0, err: expect.stringMatching(/ Update this command\n$/) });
  });

  it('writes no secret into a snapshot', async () => {
    const saved = join(folder, 'saved.json');
    const cluster = lab.world.ecs.clusterName;
    await run('plan', '--config', liveConfig, '--cluster', cluster, '--save', saved);
    const out = readFileSync(saved, 'utf8');
    const secrets = [lab.world.tokenSecretName, 'coder/keys/cpu'].map(
      (name) => lab.world.secrets.find(name)?.value ?? 'none',
    );
    for (const value of secrets) expect(out).not.toContain(value);
    expect(JSON.parse(out)).toMatchObject({ version: 1 });
  });

  it('exits with the same code live and from its snapshot when a list is missing', async () => {
    const out = join(folder, 'missing.json');
    const live = await run('plan', '--config', liveConfig, '--cluster', 'nowhere', '--save', out);
    const later = await run('plan', '--config', liveConfig, '--snapshot', out);
    expect([live.code, later.code]).toEqual([1, 1]);
  });

  it.each(['plan', 'status'])('%s names a missing Region, and nothing else', async (command) => {
    vi.stubEnv('AWS_REGION', undefined);
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
    const answer = await run(command, '--config', liveConfig, '--cluster', 'any');
    vi.unstubAllEnvs();
    expect(answer).toEqual({
      code: 1,
      out: '',
      err: 'finding the AWS Region: none is set. Set AWS_REGION to the Region of the stack\n',
    });
  });

  it('names the file that it cannot write, and prints no plan', async () => {
    const saved = join(folder, 'none', 'snapshot.json');
    const answer = await run('plan', '--config', liveConfig, '--cluster', 'nowhere', '--save', saved);
    expect(answer).toMatchObject({ code: 1, out: '' });
    expect(answer.err).toMatch(/^writing .*: ENOENT.*\. Give another file with --save\n$/);
  });
});

it('names the package that an import does not find', () => {
  const missing = 'not-installed-here';
  const cannotFind = Object.assign(new Error(`Cannot find package '${missing}' imported from a.ts`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
  expect(missingPackage(cannotFind)).toBe(missing);
  expect(missingPackage(new Error(`Cannot find package '${missing}'`))).toBeUndefined();
});

it.each([
  ['22.19.0', undefined],
  ['22.20.0', undefined],
  ['24.1.0', undefined],
  [
    '22.2.0',
    'autoscaler needs Node 22.19.0 or newer, and this is Node 22.2.0. Install a newer Node, or run npm ci in a clone',
  ],
  [
    '20.20.2',
    'autoscaler needs Node 22.19.0 or newer, and this is Node 20.20.2. Install a newer Node, or run npm ci in a clone',
  ],
])('answers Node %s with %s, if the package needs 22.19.0', (version, problem) => {
  expect(nodeProblem('>=22.19.0', version)).toBe(problem);
});
