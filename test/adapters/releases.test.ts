/**
 * Reads what each release has saved: snapshots of `plan --save`, and the record of builds. The code of the release
 * wrote the files of `releases/<version>/`: some snapshots are of generated states, one has learned stock.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { decodeRecord } from '../../lambda/adapters/parameters/record-parameter.ts';
import { parseSnapshot, snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import { aChoice, stocked } from '../support/stocked.ts';

const folder = fileURLToPath(new URL('releases', import.meta.url));
const json = (file: string) => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'));
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
