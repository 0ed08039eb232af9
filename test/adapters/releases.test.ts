/**
 * Reads what each release has saved: snapshots of `plan --save`, and the record of builds. The code of the release
 * wrote the files of `releases/<version>/`: some snapshots are of generated states, one has learned stock. To store those
 * of the version in package.json: `UPGRADE_BASELINE=write npx vitest run test/adapters/releases.test.ts`.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord } from '../../lambda/adapters/parameters/record-parameter.ts';
import { parseSnapshot, snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import { NOW } from '../support/parts.ts';
import { aChoice, stocked } from '../support/stocked.ts';
import { uglyStates } from '../support/ugly/ugly.ts';

const folder = fileURLToPath(new URL('releases', import.meta.url));
const json = (file: string) => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'));
if (process.env.UPGRADE_BASELINE === 'write') writeBaseline();

function writeBaseline(): void {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  mkdirSync(`${folder}/${version}`, { recursive: true });
  const write = (name: string, value: unknown) =>
    writeFileSync(`${folder}/${version}/${name}.json`, `${JSON.stringify(value)}\n`, { flag: 'wx' });
  const { snapshot } = stocked({ pools: { cpu: { idle: [5_000, 600_000], busy: [30_000] } } });
  const organizationId = snapshot.coder.organizations[0]?.id ?? ('' as never);
  const choices = [aChoice({ organizationId, pools: ['cpu' as never] }, { free: 2 })];
  write('stock', snapshotToJson({ ...snapshot, stock: { tagSets: [], choices } }));
  const seen = fc.sample(uglyStates({ view: 'any' }), { numRuns: 3, seed: 53 });
  for (const [at, { snapshot: any }] of seen.entries()) write(`any-${at}`, snapshotToJson(any));
  const builds = [60_000, 7_200_000].map((ago) => ({ at: NOW - ago, tookMs: 42_000 }));
  const logs = [{ tags: normalizeTags({}), builds }];
  const organizations = [{ id: organizationId, upTo: NOW, logs }];
  write('record', { text: encodeRecord({ organizations, choices } as never) });
}

const versions = readdirSync(folder);

it('has files of each release that CHANGELOG.md names', () => {
  const released = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)];
  expect(versions.toSorted()).toEqual(released.map(([, version]) => version).toSorted());
});

describe.each(versions)('what %s has saved', (version) => {
  const files = readdirSync(`${folder}/${version}`);
  const snapshots = files.filter((file) => file !== 'record.json');

  it.each(snapshots)('can be read: %s', (file) => {
    const saved = json(`${version}/${file}`);
    const { coder, ecs, stock } = parseSnapshot(saved);
    expect(coder.organizations).toHaveLength(saved.coder.organizations.length);
    expect(ecs.tasks.items).toHaveLength(saved.ecs.tasks.items.length);
    expect(stock?.tagSets).toEqual(saved.stock?.tagSets);
  });

  it('has a record whose builds count', () => {
    const record = decodeRecord(json(`${version}/record.json`).text);
    expect(record?.organizations.flatMap(({ logs }) => logs)).toEqual([
      expect.objectContaining({ builds: [expect.anything(), expect.anything()] }),
    ]);
  });
});

it('leaves out a choice of another form, and no other, in a snapshot as in the record', () => {
  const { snapshot } = stocked({ pools: { cpu: {} } });
  const organizationId = snapshot.coder.organizations[0]?.id ?? ('' as never);
  const choice = aChoice({ organizationId, pools: [] });
  const { countsBusy: _, ...rule } = choice.rule;
  const saved = snapshotToJson({ ...snapshot, stock: { tagSets: [], choices: [choice] } });
  const choices = [{ ...choice, rule: { ...rule, countsEnding: true } }, choice];
  const read = parseSnapshot({ ...(saved as object), stock: { tagSets: [], choices } });
  expect(read.stock?.choices).toEqual([choice]);
});
