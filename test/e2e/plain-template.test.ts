/** The function of a plain template: it reads its configuration from the simulated Systems Manager. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../support/cli-run.ts';
import { type Lab, labConfig, startLab } from '../support/lab.ts';
import { ownFolder } from '../support/own-folder.ts';
import { deployPlain, type PlainDeployment } from '../support/plain-deployment.ts';

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const pools = [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }];
const folder = ownFolder();
/** Little time left, so that there is one look. */
const context = { functionName: 'test', awsRequestId: 'one', getRemainingTimeInMillis: () => 6_000 };
/**
 * Longer than one parameter, with characters that Systems Manager would replace or that have
 * several bytes.
 */
const LONG = { TF_VAR_greeting: 'Grüße, {{name}} 👋 '.repeat(300) };

let lab: Lab;
const template = join(folder, 'template');
beforeAll(async () => {
  lab = await startLab({ pools });
  const base = labConfig(lab.coderdUrl, pools);
  const [pool] = base.pools as readonly object[];
  const config = join(folder, 'autoscaler.yaml');
  writeFileSync(config, stringify({ ...base, pools: [{ ...pool, environment: LONG }] }));
  const { code, err } = await run('synth', '--config', config, '--out', template);
  expect(err).toBe('');
  expect(code).toBe(0);
});
afterAll(async () => {
  await lab.close();
});
afterEach(() => {
  delete process.env.AUTOSCALER_CONFIG_PARAMETERS;
  delete process.env.AUTOSCALER_CONFIG_SHA256;
  delete process.env.AUTOSCALER_RECORD;
});

/** Deploys the template as another stack. */
const deploy = (name: string): PlainDeployment =>
  deployPlain(template, `stack-${name}`, lab.world.parameters);

/** Loads the function like a cold start. */
async function start({ environment, codeDir }: PlainDeployment): Promise<Handler> {
  const { clusterName } = lab.world.ecs;
  const own = { AUTOSCALER_CLUSTER: clusterName, AUTOSCALER_STACK: lab.world.stackName };
  Object.assign(process.env, environment, own);
  const module: { readonly handler: Handler } = await import(pathToFileURL(join(codeDir, 'index.mjs')).href);
  return module.handler;
}

it('starts a daemon for a job, with a configuration of several parameters', async () => {
  const deployed = deploy('long');
  expect(deployed.parameters.length).toBeGreaterThan(2);
  expect(readdirSync(deployed.codeDir).sort()).toEqual(['index.mjs', 'index.mjs.map']);
  const handler = await start(deployed);
  lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 1000 });
  lab.pass(60);
  await expect(handler({ tick: true }, context)).resolves.toEqual({ looks: 1 });
  expect(lab.world.service('cpu').state.desiredCount).toBe(1);
});

it('refuses to start with a parameter of another deployment, and starts with its own again', async () => {
  const old = deploy('torn');
  const [name = ''] = old.parameters;
  const before = lab.world.parameters.find(name) ?? '';
  const now = before.replace('"max":20', '"max":6');
  expect(now).not.toBe(before);
  lab.world.parameters.put(name, now);
  await expect(start(old)).rejects.toThrow(
    /^checking the stored configuration: its SHA-256 is [0-9a-f]{12}…, and the function was deployed with [0-9a-f]{12}…; wait until the deployment has ended/,
  );
  lab.world.parameters.put(name, before);
  const again = { ...old, codeDir: deploy('torn-again').codeDir };
  await expect(start(again)).resolves.toBeTypeOf('function');
});

it('looks as usual without permission to read its record of builds, and warns once', async () => {
  const deployed = deploy('no-record');
  const { AUTOSCALER_RECORD: record = '' } = deployed.environment;
  expect(record).toBe('/coder-provisioner-autoscaler/stack-no-record/record');
  expect(lab.world.parameters.find(record)).toBe('none');
  lab.world.parameters.deny(record);
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'WARN');
  const written: string[] = [];
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0),
  );
  const handler = await start(deployed);
  for (let looks = 0; looks < 2; looks++)
    await expect(handler({ tick: true }, context)).resolves.toEqual({ looks: 1 });
  for (const spy of spies) spy.mockRestore();
  vi.unstubAllEnvs();
  expect(written.filter((line) => line.includes('reading the record of builds'))).toHaveLength(1);
});

it('refuses to start if a parameter is missing, and names it', async () => {
  const deployed = deploy('missing');
  const [name = ''] = deployed.parameters;
  lab.world.parameters.delete(name);
  await expect(start(deployed)).rejects.toThrow(
    `reading the configuration: SSM parameter ${name} does not exist; create it again with its value in the template (docs/terraform.md)`,
  );
});

it('refuses to start without permission, and names the permission', async () => {
  const deployed = deploy('denied');
  lab.world.parameters.deny(deployed.parameters[0] ?? '');
  await expect(start(deployed)).rejects.toThrow(/ssm:GetParameters.*check that the function's role may call/);
});
