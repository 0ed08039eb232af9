/**
 * Runs the real CDK CLI on the project's app, as in a fresh clone: with an empty home folder and
 * without network.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Settings } from '../../infra/constructs/settings.ts';
import { ownFolder } from '../support/own-folder.ts';
import { rows } from '../support/runs.ts';
import { EVERYTHING, EXISTING, FIFTY_POOLS, MINIMAL } from './support/synthesized.ts';

const dir = ownFolder();

/** Secrets that people have in their environment when they deploy. */
const SECRETS = {
  CODER_SESSION_TOKEN: 'canary-session-token',
  CODER_PROVISIONER_DAEMON_KEY: 'canary-provisioner-key',
  TF_TOKEN_app_terraform_io: 'canary-terraform-token',
  AWS_SECRET_ACCESS_KEY: 'canary-aws-secret',
  AWS_SESSION_TOKEN: 'canary-aws-session',
};

type Run = { readonly status: number; readonly stdout: string; readonly stderr: string };

const nowhere = 'http://127.0.0.1:9';
const ENVIRONMENT = {
  ...SECRETS,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  CDK_VALIDATION: process.env.CDK_VALIDATION,
  // for the child process `node infra/app.ts`, as npx sets it
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  HOME: dir,
  HTTP_PROXY: nowhere,
  HTTPS_PROXY: nowhere,
  AWS_EC2_METADATA_DISABLED: 'true',
};

function runNode(args: readonly string[], given: { cwd?: string; env?: object } = {}): Promise<Run> {
  const options = { cwd: given.cwd, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  return new Promise((done) => {
    const env = { ...ENVIRONMENT, ...given.env };
    const child = execFile(process.execPath, args, { ...options, env }, (_, stdout, stderr) =>
      done({ status: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

function write(name: string, settings: object): string {
  const file = join(dir, `${name}.yaml`);
  writeFileSync(file, stringify(settings));
  return file;
}

const CDK = 'node_modules/aws-cdk/bin/cdk';
const synth = (file: string, out: string): Promise<Run> =>
  runNode([CDK, 'synth', '--quiet', '--output', join(dir, out), '-c', `config=${file}`]);

/** The app alone, with the context that the CDK CLI would pass. */
const runApp = (context: object): Promise<Run> =>
  runNode([resolve('infra/app.ts')], { cwd: dir, env: { CDK_CONTEXT_JSON: JSON.stringify(context) } });

const EXAMPLE = 'autoscaler.example.yaml';
/** A synthesis takes seconds, and several tests look at this one. */
const example = synth(EXAMPLE, 'example');

const MINUTES_2 = { timeout: 120_000 };

type Deployment = { readonly name: string; readonly settings?: Settings; readonly services: number };

describe('cdk synth', () => {
  it.concurrent.each<Deployment>(
    rows(
      [
        { name: 'example', services: 3 },
        { name: 'minimal', settings: MINIMAL, services: 1 },
        { name: 'everything', settings: EVERYTHING, services: 3 },
        { name: 'existing', settings: EXISTING, services: 2 },
        { name: 'fifty', settings: FIFTY_POOLS, services: 50 },
      ],
      1,
    ),
  )('makes a stack offline, without a warning: $name', MINUTES_2, async ({ name, settings, services }) => {
    const { status, stderr } = await (settings ? synth(write(name, settings), name) : example);
    expect(stderr).not.toMatch(/warning|error/i);
    expect(status).toBe(0);
    const { Resources } = readTemplate(name, settings?.aws?.stack);
    const made = Object.values(Resources).filter(({ Type }) => Type === 'AWS::ECS::Service');
    expect(made).toHaveLength(services);
    for (const { Properties } of made) expect(Properties).not.toHaveProperty('DesiredCount');
  });

  it.concurrent('writes no secret into the uploaded assets', MINUTES_2, async () => {
    await example;
    const files = readdirSync(join(dir, 'example'), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(6);
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), 'utf8'), name).not.toContain('canary-');
  });

  it.concurrent('refuses to deploy without a configuration, and says how to get one', MINUTES_2, async () => {
    const { status, stderr } = await runApp({});
    expect(stderr).toMatch(
      /^no configuration: there is no autoscaler\.yaml in \S+\. Write one from your coderd with "\.\/autoscaler setup --draft", or copy autoscaler\.example\.yaml and edit it\. To use another file, pass -c config=FILE\n$/,
    );
    expect(status).toBe(1);
  });

  it.concurrent('reports configuration problems without a stack trace', MINUTES_2, async () => {
    const wrong = write('wrong', { coder: MINIMAL.coder, pools: [{ naem: 'x' }] });
    const { status, stderr } = await runApp({ config: wrong });
    expect(status).toBe(1);
    expect(stderr).toContain('naem');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

type Template = {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties: object }>>;
};

function readTemplate(out: string, stack = 'CoderProvisionerAutoscaler'): Template {
  return JSON.parse(readFileSync(join(dir, out, `${stack}.template.json`), 'utf8'));
}
