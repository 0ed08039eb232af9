/** The bundled function against a served world. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { bundleFunction } from '../../infra/constructs/bundle.ts';
import type { Plan } from '../../lambda/decision/model/plan.ts';
import type { LookEvent } from '../../lambda/look/look-event.ts';
import {
  ACTIVITY_METRICS,
  ALARM_METRICS,
  METRICS_NAMESPACE,
  POOL_METRICS,
} from '../../lambda/telemetry/metric-names.ts';
import { type Lab, labConfig, startLab } from '../support/lab.ts';
import { ownFolder } from '../support/own-folder.ts';
import { serve } from '../support/servers.ts';

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const pools = [
  { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 },
  { name: 'data', organization: 'data', tags: { team: 'data' }, desiredCount: 0 },
];

let lab: Lab;
let handler: Handler;
const folder = ownFolder();
const bundle = join(folder, 'bundle');

/** Loads a copy of the bundle, like a cold start of another function. */
async function deploy(
  name: string,
  config: Record<string, unknown>,
  environment: Record<string, string> = {},
): Promise<Handler> {
  cpSync(bundle, join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, 'autoscaler.yaml'), stringify(config));
  Object.assign(process.env, { AUTOSCALER_CLUSTER: lab.world.ecs.clusterName, ...environment });
  const module: { readonly handler: Handler } = await import(join(folder, name, 'index.mjs'));
  return module.handler;
}

type Line = Partial<LookEvent> & {
  readonly message?: string;
  readonly pool?: string;
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly { readonly Metrics: readonly { readonly Name: string }[] }[];
  };
};

/**
 * Runs one look, and returns the lines that the function logs. CloudWatch makes a log event of each
 * line.
 */
async function lookWith(
  function_: Handler,
): Promise<{ readonly text: string; readonly lines: readonly Line[] }> {
  const written: string[] = [];
  // Lambda logs both
  const spies = ([process.stdout, process.stderr] as const).map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    }),
  );
  await function_({ tick: true }, context).finally(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const text = written.join('');
  return {
    text,
    lines: text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line),
  };
}

function metricsIn({ _aws }: Line): readonly string[] {
  return (_aws?.CloudWatchMetrics ?? []).flatMap((directive) => directive.Metrics.map(({ Name }) => Name));
}

/** Little time left, so that there is one look. */
const context = { functionName: 'test', awsRequestId: 'one', getRemainingTimeInMillis: () => 6_000 };

beforeAll(async () => {
  lab = await startLab({ pools });
  const configFile = join(folder, 'config.yaml');
  writeFileSync(configFile, stringify(labConfig(lab.coderdUrl, pools)));
  bundleFunction({ configFile, outDir: bundle });
  handler = await deploy('function', labConfig(lab.coderdUrl, pools));
});
beforeEach(() => lab.pass(60));
afterAll(async () => {
  await lab.close();
});

describe('a dry run', () => {
  it('returns the plan as JSON with a text and changes nothing', async () => {
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 1000 });
    const answer = JSON.parse(JSON.stringify(await handler({ dryRun: true }, context))) as Plan & {
      text: string;
    };
    expect(answer).toMatchObject({ version: 1, takenAt: '2026-03-02T09:01:00.000Z' });
    expect(answer.actions).toMatchObject([
      { kind: 'set-desired', pool: 'cpu', from: 0, to: 1, why: 'pending-jobs' },
    ]);
    expect(answer.text).toMatch(/\+ cpu {3}0 -> 1 {2}1 pending job needs a new task/);
    expect(lab.world.service('cpu').state.desiredCount).toBe(0);
  });
});

describe('a scheduled look', () => {
  it('starts a daemon that runs a pending job', async () => {
    await expect(handler({ tick: true }, context)).resolves.toEqual({ looks: 1 });
    expect(lab.world.service('cpu').state.desiredCount).toBe(1);
    lab.pass(120);
    expect(lab.world.coderd.jobs().map(({ status }) => status)).toEqual(['succeeded']);
  });

  it('reads the token again when coderd refuses it', async () => {
    const { coderd, secrets, tokenSecretName } = lab.world;
    const old = secrets.find(tokenSecretName)?.value ?? '';
    secrets.put(tokenSecretName, coderd.addToken({ canRead: 'all' }));
    coderd.tokens.revoke(old);
    await expect(handler({ tick: true }, context)).resolves.toEqual({ looks: 1 });
  });

  it('serves one organization and fails with one line per cause if another is forbidden', async () => {
    const { coderd, secrets, tokenSecretName } = lab.world;
    const good = secrets.find(tokenSecretName)?.value ?? '';
    const narrow = coderd.addToken({ canRead: ['default'] });
    coderd.tokens.revoke(good);
    secrets.put(tokenSecretName, narrow);
    for (let index = 0; index < 3; index++)
      coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    const error = await handler({ tick: true }, context).catch((cause: unknown) => cause);
    expect((error as Error).name).toBe('InvocationError');
    expect((error as Error).message.split('\n')).toHaveLength(2);
    expect((error as Error).message).toMatch(
      /^organization "data": no permission to list provisioner jobs.*\norganization "data": no permission to list provisioner daemons/,
    );
    expect(lab.world.service('cpu').state.desiredCount).toBeGreaterThanOrEqual(3);
    coderd.tokens.revoke(narrow);
    secrets.put(tokenSecretName, coderd.addToken({ canRead: 'all' }));
  });
});

describe('the log of a look', () => {
  /** Logs, unlike the functions of all other tests. */
  async function deployLoud(name: string, config: Record<string, unknown>): Promise<Handler> {
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
    vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
    vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', METRICS_NAMESPACE);
    return deploy(name, config).finally(() => vi.unstubAllEnvs());
  }

  it('has one log event and one event of ten metrics, each on one line, without the token and keys', async () => {
    const { lines, text } = await lookWith(await deployLoud('loud', labConfig(lab.coderdUrl, pools)));
    const [look, metrics, ...others] = lines;
    expect(others).toEqual([]);
    expect(look).toMatchObject({
      message: 'look',
      pools: [{ name: 'cpu' }, { name: 'data' }],
      calls: [{ api: 'coderd' }, { api: 'ecs' }, { api: 'secrets-manager' }],
      failures: [],
    });
    expect(look?.calls?.[0]?.requests).toBeGreaterThan(2);
    expect(metricsIn(metrics ?? {})).toEqual([...ACTIVITY_METRICS, ...ALARM_METRICS]);
    expect(metrics).toMatchObject({ TickAge: 0, PendingJobs: look?.pending });
    // what is wrong is the first thing that a person reads in the console
    expect(text).toMatch(/^\{"level":"WARN","message":"look","failures":\[\],"findings":\["/);
    const { secrets, tokenSecretName } = lab.world;
    const known = [tokenSecretName, ...pools.map(({ name }) => `coder/keys/${name}`)];
    const values = known.map((name) => secrets.find(name)?.value ?? '');
    expect(values.filter((value) => value.length < 8)).toEqual([]);
    expect(values.filter((value) => text.includes(value))).toEqual([]);
  });

  it('has three more metrics per pool if the configuration enables them', async () => {
    const perPool = { ...labConfig(lab.coderdUrl, pools), aws: { metrics: { perPool: true } } };
    const { lines } = await lookWith(await deployLoud('per-pool', perPool));
    const [, , ...others] = lines;
    expect(others.map(({ pool }) => pool)).toEqual(['cpu', 'data']);
    for (const line of others) expect(metricsIn(line)).toEqual([...POOL_METRICS]);
  });
});

describe('a function with a queue', () => {
  it('ends after a look, and a message starts the next one', async () => {
    const bodies: string[] = [];
    lab.world.queue.handler = async (body) => bodies.push(body);
    const queueUrl = `${lab.awsUrl}/123456789012/looks`;
    const variables = { AUTOSCALER_QUEUE_URL: queueUrl };
    const function_ = await deploy('with-queue', labConfig(lab.coderdUrl, pools), variables);
    delete process.env.AUTOSCALER_QUEUE_URL;
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 1000 });
    const minute = { ...context, getRemainingTimeInMillis: () => 55_000 };
    await expect(function_({ tick: true }, minute)).resolves.toEqual({ looks: 1 });
    lab.pass(10);
    await vi.waitFor(() => expect(bodies).toHaveLength(1));
    const event = { Records: [{ eventSource: 'aws:sqs', body: bodies[0] }] };
    // this process looks no earlier than its plan chose, and its clock is a real one
    await expect(function_(event, minute)).resolves.toEqual({ looks: 0 });
    const other = await deploy('another-process', labConfig(lab.coderdUrl, pools), variables);
    delete process.env.AUTOSCALER_QUEUE_URL;
    await expect(other(event, minute)).resolves.toEqual({ looks: 1 });
    const over = JSON.stringify({ ...JSON.parse(bodies[0] ?? ''), until: Date.now() - 1 });
    const late = { Records: [{ eventSource: 'aws:sqs', body: over }] };
    await expect(other(late, minute)).resolves.toEqual({ looks: 0 });
  });
});

describe('any other payload', () => {
  it.each([{}, null, undefined, [], 'tick', { tick: false }, { tick: true, dryRun: true }, { Tick: true }])(
    'is refused: %j',
    async (event) => {
      await expect(handler(event, context)).rejects.toThrow(
        /^reading the payload: saw .*\. Send \{"tick":true\} for a look, or \{"dryRun":true\}/,
      );
    },
  );
});

describe('the function', () => {
  it('fails before its timeout when coderd does not answer', async () => {
    const stuck = await deploy('stuck', labConfig(await serve(() => {}), pools));
    const hurried = { ...context, getRemainingTimeInMillis: () => 1_100 };
    await expect(stuck({ tick: true }, hurried)).rejects.toThrow(
      /^running out of time: coderd or ECS did not answer/,
    );
  });

  it('does not start without a cluster and names the missing variable', async () => {
    await expect(
      deploy('no-cluster', labConfig(lab.coderdUrl, pools), { AUTOSCALER_CLUSTER: '' }),
    ).rejects.toThrow('reading the environment: AUTOSCALER_CLUSTER is empty; name the ECS cluster');
    process.env.AUTOSCALER_CLUSTER = lab.world.ecs.clusterName;
  });
});
