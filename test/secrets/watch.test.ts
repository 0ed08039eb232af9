/** The search for secrets finds what it is there for. */
import { appendFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Random } from '../../lab/world/base/random.ts';
import { ProvisionerKeys } from '../../lab/world/coderd/tables/keys.ts';
import { World } from '../../lab/world/world.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { runIn } from '../support/cli-run.ts';
import { START } from '../support/lab.ts';
import { ownFolder } from '../support/own-folder.ts';
import { handIn } from './output.ts';
import { takeLeaks } from './watch.ts';

const folder = ownFolder();

const world = new World({ start: START, seed: 1, pools: [], organizations: ['default'] });
const token = world.coderd.addToken({ canRead: 'all' });
const key = new ProvisionerKeys(new Random(1)).add({
  organizationId: world.coderd.organizationId('default'),
  name: 'cpu',
  tags: {},
  createdAt: START,
});

describe.each([
  { what: 'a token', secret: token },
  { what: 'a key', secret: key },
])('the search for secrets finds $what', ({ secret }) => {
  const file = join(folder, 'report.html');

  it.each([
    { place: 'a file', where: `the file ${file}`, let: () => writeFileSync(file, `<p>${secret}</p>`) },
    { place: 'a file that grows', where: `the file ${file}`, let: () => appendFileSync(file, secret) },
    { place: 'the console', where: 'console.error', let: () => console.error(`refused ${secret}`) },
    { place: 'stdout', where: 'stdout', let: () => process.stdout.write(`${secret}\n`) },
    { place: 'what is handed in', where: 'a plan', let: () => handIn({ where: 'a plan', text: secret }) },
  ])('in $place', ({ where, let: letOut }) => {
    letOut();
    expect(takeLeaks()).toContain(where);
  });
});

it('the search for secrets reads the output of commands', async () => {
  await runIn({}, 'validate', token);
  expect(takeLeaks()).toEqual(['autoscaler validate']);
});

it('the search for secrets finds nothing in other texts', () => {
  handIn({ where: 'a plan', text: token.slice(1) });
  expect(takeLeaks()).toEqual([]);
});

// The type of secret values: what prints it, and who may read it.

const VALUE = 'k3y-that-nobody-may-read';
const secret = new Secret(VALUE);

describe('a secret', () => {
  it.each([
    { form: 'a string', text: `${secret}` },
    { form: 'a concatenation', text: `token: ${String(secret)}` },
    { form: 'JSON', text: JSON.stringify({ token: secret, list: [secret] }) },
    { form: 'inspect', text: inspect({ deep: { token: secret } }, { showHidden: true }) },
    { form: 'the message of an error', text: String(new Error(`refused ${secret}`)) },
    { form: 'its own properties', text: JSON.stringify([Object.entries(secret), Reflect.ownKeys(secret)]) },
  ])('is hidden in $form', ({ text }) => {
    expect(text).not.toContain(VALUE);
  });

  it('gives its value to the request that needs it', () => {
    expect(secret.reveal()).toBe(VALUE);
  });
});

/** Where a value leaves its secret, with the reason. */
const CALLERS: Readonly<Record<string, string>> = {
  'cli/setup/acts.ts': 'gives init the session of the person',
  'cli/setup/aws-side.ts': 'stores a new token or key in a secret',
  'cli/setup/coder-side.ts': 'finds the public part of a token that it deletes',
  'lambda/adapters/coderd/http/http.ts': 'writes the header of a request',
  'lambda/adapters/coderd/token-expiry.ts': 'finds the public part of a token',
  'lambda/keys/adapters/secrets-manager.ts': 'stores a new version of a secret',
  'lambda/keys/model/pool.ts': 'puts a key into the JSON of a secret, and takes it out',
};

it('reads the value of a secret only where a request needs it', () => {
  const files = globSync('{lambda,cli,infra,simulator,backtest,verify,demo}/**/*.ts');
  expect(files.length).toBeGreaterThan(300);
  const callers = files.filter((file) => /\.reveal\(\)/.test(readFileSync(file, 'utf8')));
  expect(callers.toSorted()).toEqual(Object.keys(CALLERS).toSorted());
});
