import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleFunction } from '../../infra/constructs/bundle.ts';
import { loadConfig } from '../../lambda/config/load.ts';
import { ownFolder } from '../support/own-folder.ts';
import { pem } from './support/certificate.ts';

const pool = `pools:
  - name: default # the only one
    organization: default
    key: { secret: coder/keys/default }
`;
const plain = `coder:
  url:   https://coder.example.com
  token: { secret: coder/token }
${pool}`;
const withCaBundle = `# ours
coder:
  url: https://coder.example.com
  token: { secret: coder/token }
  caBundle: certificates/corp.pem # from the platform team
${pool}`;

const dir = ownFolder();
const read = (name: string): string => readFileSync(join(dir, name), 'utf8');
const bundle = (configFile: string, outDir: string): void =>
  bundleFunction({ configFile: join(dir, configFile), outDir: join(dir, outDir) });

/** Bundles in a new process that starts in `cwd`. */
function bundleFrom(cwd: string, configFile: string, outDir: string): void {
  const { href } = pathToFileURL(resolve('infra/constructs/bundle.ts'));
  const call = `bundleFunction(${JSON.stringify({ configFile, outDir })})`;
  const script = `const { bundleFunction } = await import('${href}'); ${call};`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd });
}

beforeAll(() => {
  mkdirSync(join(dir, 'certificates'));
  writeFileSync(join(dir, 'certificates/corp.pem'), pem);
  writeFileSync(join(dir, 'plain.yaml'), plain);
  writeFileSync(join(dir, 'with-ca.yaml'), withCaBundle);
  bundle('plain.yaml', 'plain');
  bundleFrom(dir, 'with-ca.yaml', 'some/deeper/place');
});

describe('the bundle of the function', () => {
  it('has the handler in one file, its source map and the configuration', () => {
    expect(readdirSync(join(dir, 'plain')).sort()).toEqual(['autoscaler.yaml', 'index.mjs', 'index.mjs.map']);
  });

  it('is byte for byte the same for every output directory and checkout', () => {
    for (const file of ['index.mjs', 'index.mjs.map']) {
      expect(read(`plain/${file}`) === read(`some/deeper/place/${file}`)).toBe(true);
    }
  });

  it('contains no path of the build machine', () => {
    for (const file of ['index.mjs', 'index.mjs.map']) {
      for (const path of [process.cwd(), dir]) expect(read(`plain/${file}`).includes(path)).toBe(false);
    }
    const { sources } = JSON.parse(read('plain/index.mjs.map'));
    expect(sources).toContain('../../lambda/handler.ts');
    // `node_modules` may be a link to that of a clone around this one
    const isOurs = (source: string) => /^\.\.\/\.\.\/(?:lambda|(?:\.\.\/)*node_modules)\//.test(source);
    expect(sources.filter((source: string) => !isOurs(source))).toEqual([]);
  });

  it('runs outside the checkout and exports a handler that the runtime accepts', () => {
    const script =
      "const { handler } = await import('./index.mjs'); console.log(typeof handler, handler.length < 3);";
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: join(dir, 'plain'),
      encoding: 'utf8',
      env: { AWS_REGION: 'eu-central-1', AUTOSCALER_CLUSTER: 'test' },
    });
    // Node 24's runtime refuses a handler with a third parameter (docs/internals/aws.md §6)
    expect({ stdout, stderr }).toEqual({ stdout: 'function true\n', stderr: '' });
  });
});

describe('the configuration in the bundle', () => {
  it('is copied unchanged if it names no CA bundle', () => {
    expect(read('plain/autoscaler.yaml')).toBe(plain);
  });

  it('names the copied CA bundle and keeps its comments', () => {
    expect(read('some/deeper/place/autoscaler.yaml')).toBe(
      withCaBundle.replace('certificates/corp.pem', './ca-bundle.pem'),
    );
    expect(read('some/deeper/place/ca-bundle.pem')).toBe(pem);
  });

  it('means the same as the original', () => {
    const original = loadConfig(join(dir, 'with-ca.yaml'));
    const copy = loadConfig(join(dir, 'some/deeper/place/autoscaler.yaml'));
    expect(copy.caBundle).toBe(original.caBundle);
    expect(copy.config.pools).toEqual(original.config.pools);
  });

  it('removes the CA bundle of an earlier run', () => {
    bundle('with-ca.yaml', 'reused');
    bundle('plain.yaml', 'reused');
    expect(readdirSync(join(dir, 'reused'))).not.toContain('ca-bundle.pem');
  });
});
