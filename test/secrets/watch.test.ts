/** The search for secrets finds what it is there for. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Random } from '../../simulator/base/random.ts';
import { ProvisionerKeys } from '../../simulator/coderd/tables/keys.ts';
import { World } from '../../simulator/world.ts';
import { runIn } from '../support/cli-run.ts';
import { START } from '../support/lab.ts';
import { handIn } from './output.ts';
import { takeLeaks } from './watch.ts';

const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

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
