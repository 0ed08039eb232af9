import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkConfig } from '../../lambda/config/check.ts';
import { loadConfig, loadDeployment } from '../../lambda/config/load.ts';
import { checkPoolCount } from '../../lambda/config/rules/deployment-rules.ts';
import { ownFolder } from '../support/own-folder.ts';
import { fileWith } from './written.ts';

const PEM = `${rootCertificates[0] ?? ''}\n`;
const PRIVATE_KEY = ['-----BEGIN', 'PRIVATE KEY-----\nAAAA\n-----END', 'PRIVATE KEY-----\n'].join(' ');

let folder = '';
let file = '';

beforeEach(() => {
  folder = ownFolder();
  file = join(folder, 'autoscaler.yaml');
  mkdirSync(join(folder, 'certs'));
});

function write({ caBundle, bundle, max = '3' }: { caBundle: string; bundle?: string; max?: string }): void {
  if (bundle !== undefined) writeFileSync(join(folder, 'certs', 'ca.pem'), bundle);
  writeFileSync(
    file,
    `coder:
  url: https://coder.example.com
  token: { secret: t }
  caBundle: ${caBundle}
pools: [{ name: a, organization: default, key: { secret: k }, max: ${max} }]
`,
  );
}

it('reads the CA bundle by its path relative to the configuration file', () => {
  write({ caBundle: './certs/ca.pem', bundle: `# corp\n${PEM}${PEM}` });
  const { config, caBundle, warnings } = loadConfig(file);
  expect(config.coder.caBundle).toBe('./certs/ca.pem');
  expect(caBundle).toBe(`# corp\n${PEM}${PEM}`);
  expect(warnings).toEqual([]);
});

const BESIDE = '(the path is relative to the configuration file)';
it.each([
  { caBundle: 'certs/nope.pem', says: `no such file; check the path ${BESIDE}` },
  { caBundle: 'certs', says: `the path is a folder; write the path of a file ${BESIDE}` },
  {
    caBundle: 'certs/ca.pem',
    bundle: 'hello',
    says: 'the file has no PEM certificate ("-----BEGIN CERTIFICATE-----"); convert DER with openssl x509 -inform der',
  },
  {
    caBundle: 'certs/ca.pem',
    bundle: `${PEM}${PEM.slice(0, 100)}\n-----END CERTIFICATE-----\n`,
    says: 'certificate 2 of 2 cannot be read; export it again',
  },
  {
    caBundle: 'certs/ca.pem',
    bundle: `${PEM}${PRIVATE_KEY}`,
    says: 'the file contains a private key; keep only certificates in it',
  },
])('refuses a CA bundle: $says', ({ says, ...files }) => {
  write(files);
  expect(() => loadConfig(file)).toThrow(`${file}:4:3: coder.caBundle: reading the CA bundle: ${says}`);
});

it('reports a bad CA bundle together with the other problems', () => {
  write({ caBundle: 'certs/nope.pem', max: '0' });
  expect(() => loadConfig(file)).toThrow(/:4:3: coder\.caBundle: .*\n.*:5:63: pools\[0\]\.max: /);
});

it('reports a configuration file that is missing or is a folder', () => {
  expect(() => loadConfig(file)).toThrow(
    `${file}: reading the configuration: no such file; write one with autoscaler setup --draft, or name another file with --config`,
  );
  expect(() => loadConfig(folder)).toThrow(
    `${folder}: reading the configuration: the path is a folder; write the path of a file`,
  );
});

it.each([
  {
    most: 50,
    keyOf: (index: number) => `{ secret: k${index} }`,
    says: '51 pools, but one deployment supports at most 50; split the file by organization. Give each file its own stack (aws.stack) and its own cluster. Jobs stay in their organization, so the split loses nothing',
  },
  {
    most: 42,
    keyOf: () => 'managed',
    says: '43 pools with key: managed, but one deployment supports at most 42; split the file by organization, or give some pools a key of their own',
  },
])('refuses more than $most pools, in every command: $says', ({ most, keyOf, says }) => {
  const withPools = (count: number): string => {
    const pools = Array.from(
      { length: count },
      (_, index) =>
        `  - { name: p${index}, organization: default, tags: { p: "${index}" }, key: ${keyOf(index)} }\n`,
    );
    const text = `coder: { url: https://coder.example.com, token: { secret: t } }\npools:\n${pools.join('')}managedKeys: { token: { secret: m } }\n`;
    writeFileSync(file, text);
    return text;
  };
  withPools(most);
  expect(loadDeployment(file).config.pools).toHaveLength(most);
  const text = withPools(most + 1);
  for (const load of [loadConfig, loadDeployment])
    expect(() => load(file)).toThrow(`${file}:2:1: pools: ${says}`);
  expect(() => checkConfig(parse(text), checkPoolCount)).toThrow(`pools: ${says}`);
});

it('examines nothing else in a configuration with too many pools', () => {
  writeFileSync(file, `coder: { url: 1 }\npools:\n${'  - { name: p, unknown: 1 }\n'.repeat(5_000)}`);
  expect(() => loadDeployment(file)).toThrow(/^[^\n]*:2:1: pools: 5000 pools, [^\n]*$/);
});

it('refuses a file above 1 MiB before it parses it', () => {
  writeFileSync(file, `pools: [\n${'# \n'.repeat(350_000)}`);
  expect(() => loadConfig(file)).toThrow('reading the configuration: the file is longer than 1 MiB');
});

it('reads a file of 1 MiB', () => {
  const settings = JSON.stringify(fileWith({}));
  writeFileSync(file, settings.padEnd(1024 * 1024));
  expect(loadConfig(file).config.pools).toHaveLength(1);
  writeFileSync(file, settings.padEnd(1024 * 1024 + 1));
  expect(() => loadConfig(file)).toThrow('longer than 1 MiB');
});

it('shows the line of the VPC if its subnets are missing', () => {
  writeFileSync(file, 'aws:\n  network:\n    stack: { a: b }\n    vpc: vpc-0123456789abcdef0\n');
  expect(() => loadDeployment(file)).toThrow(`${file}:4:5: aws.network.subnets: missing`);
});
