/**
 * The lists that a deletion of a key rests on. A key is deleted only if coderd gave all daemons, offline ones too, with
 * all that is read of them. Here an offline daemon may come back with the old key, and nothing else tells it.
 */
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RawAnswer } from '../../lambda/adapters/coderd/http/answer.ts';
import { daemonRows, listOrPage } from '../../lambda/adapters/coderd/http/lists.ts';
import { readWhole } from '../../lambda/keys/adapters/coderd-keys.ts';
import { HOUR, KeyLab, MINUTE } from './key-lab.ts';

const DAEMONS = 'GET /api/v2/organizations/{org}/provisionerdaemons';
const KEYS = 'GET /api/v2/organizations/{org}/provisionerkeys';

type Row = Readonly<Record<string, unknown>>;

let lab: KeyLab;
beforeEach(async () => {
  lab = new KeyLab();
  await swapKeys();
});

/** Two keys: the current one, and an older one that only a daemon still holds that went offline five minutes ago. */
async function swapKeys(): Promise<void> {
  await lab.resource('Create');
  const old = lab.startTask();
  await lab.rotate();
  lab.startTask();
  lab.pass(17 * HOUR);
  if (old !== undefined) lab.stopTask(old);
  lab.pass(5 * MINUTE);
}

/** The keys that are left after a sweep to which coderd gives another list. */
async function keysAfter(change: (rows: readonly Row[]) => unknown, list = DAEMONS): Promise<number> {
  lab.onAnswer = (what, answer) => (what === list ? withRows(answer, change) : answer);
  await lab.sweep().catch(() => undefined);
  return lab.ownKeys().length;
}

function withRows(answer: RawAnswer, change: (rows: readonly Row[]) => unknown): RawAnswer {
  if (answer.statusCode !== 200) return answer;
  const body: unknown = JSON.parse(answer.text);
  const changed = Array.isArray(body) ? change(body) : ofPage(body as Row, change);
  return { ...answer, text: JSON.stringify(changed) };
}

/** Of a list that is a field of the answer. */
function ofPage(page: Row, change: (rows: readonly Row[]) => unknown): unknown {
  const [name, rows] = Object.entries(page).find(([, value]) => Array.isArray(value)) ?? ['rows', []];
  return { ...page, [name]: change(rows as readonly Row[]) };
}

/** Undefined: without the field. */
const set =
  (field: string, value?: unknown) =>
  (row: Row): Row => ({ ...row, [field]: value });

it('deletes the old key once a whole list has shown that no daemon was seen for ten minutes', async () => {
  expect(await keysAfter((rows) => rows)).toBe(2);
  lab.pass(6 * MINUTE);
  expect(await keysAfter((rows) => rows)).toBe(1);
});

describe('a list of daemons', () => {
  /** All fields of a daemon, as the simulated coderd writes them. */
  async function fields(): Promise<readonly string[]> {
    let seen: readonly string[] = [];
    await keysAfter((rows) => {
      seen = Object.keys(rows[0] ?? {});
      return rows;
    });
    return seen;
  }

  it.each([
    { what: 'nothing', value: undefined },
    { what: 'null', value: null },
    { what: 'a number', value: 7 },
    { what: 'an empty text', value: '' },
    { what: 'an object', value: {} },
  ])('keeps the key with $what in place of any field of any row', async ({ value }) => {
    const names = await fields();
    expect(names).toEqual(expect.arrayContaining(['id', 'name', 'key_id', 'created_at', 'last_seen_at']));
    for (const name of names)
      for (const broken of [0, 1]) {
        const change = (rows: readonly Row[]) =>
          rows.map((row, index) => (index === broken ? set(name, value)(row) : row));
        expect(await keysAfter(change), `${name} of row ${broken}`).toBe(2);
      }
  });

  it.each([
    { what: 'a row is no object', change: (rows: readonly Row[]) => [rows[0], 'daemon'] },
    { what: 'a row is null', change: (rows: readonly Row[]) => [...rows, null] },
    { what: 'it is null', change: () => null },
    { what: 'it is an object', change: () => ({}) },
    {
      what: 'it has another form',
      change: (rows: readonly Row[]) => ({ daemons: rows, count: rows.length }),
    },
    {
      what: 'it is a page that lacks a daemon',
      change: (rows: readonly Row[]) => ({ provisioner_daemons: rows, count: rows.length + 1 }),
    },
    {
      what: 'its rows have another form',
      change: (rows: readonly Row[]) => rows.map((daemon) => ({ daemon })),
    },
  ])('keeps the key if $what', async ({ change }) => {
    expect(await keysAfter(change)).toBe(2);
    lab.pass(6 * MINUTE);
    expect(await keysAfter(change)).toBe(2);
  });

  it('keeps the key and says why if a row is left out', async () => {
    lab.pass(6 * MINUTE);
    lab.onAnswer = (what, answer) =>
      what === DAEMONS ? withRows(answer, (rows) => rows.map(set('key_id'))) : answer;
    await expect(lab.sweep()).rejects.toThrow(
      /listing provisioner daemons of organization "default": .* has no key_id/,
    );
    expect(lab.ownKeys()).toHaveLength(2);
  });

  it.each([
    { version: 'v2.25.3', keys: 1, because: 'it lists offline daemons always' },
    { version: 'v2.26.0', keys: 2, because: 'its list lacks offline daemons' },
    { version: 'v0.0.0-devel', keys: 2, because: 'nothing tells whether its list has them' },
  ])('leaves $keys keys if coderd $version refuses to list offline daemons: $because', async (row) => {
    lab.pass(6 * MINUTE);
    let refused = 0;
    lab.onAnswer = (what, answer) => {
      if (what === 'GET /api/v2/buildinfo')
        return { ...answer, text: JSON.stringify({ version: row.version }) };
      if (what !== DAEMONS || refused++ > 0) return answer;
      const validations = [{ field: 'offline', detail: '"offline" is not a valid query param' }];
      return { ...answer, statusCode: 400, text: JSON.stringify({ message: 'Invalid', validations }) };
    };
    const swept = lab.sweep();
    if (row.keys === 1) await swept;
    else await expect(swept).rejects.toThrow('coderd answered 400: Invalid offline');
    expect(lab.ownKeys()).toHaveLength(row.keys);
  });
});

describe('a page of daemons, if coderd gives one,', () => {
  const daemon = {
    id: 'd',
    organization_id: 'o',
    created_at: '2026-11-20T09:00:00Z',
    name: 'cpu-1',
    tags: {},
  };
  const read = (rows: readonly unknown[], count: number) => {
    const text = JSON.stringify({ provisioner_daemons: rows, count });
    const pages = listOrPage(daemonRows, 'provisioner_daemons');
    return readWhole('listing', { statusCode: 200, text } as RawAnswer, pages);
  };

  it('is a whole list only with as many daemons as it counts, and with all their fields', () => {
    expect(read([daemon], 1)).toHaveLength(1);
    expect(() => read([daemon], 2)).toThrow('listing: coderd counts 2 provisioner daemons and lists 1');
    expect(() => read([daemon, {}], 2)).toThrow('1 of 2 rows cannot be read');
  });
});

describe('a list of keys', () => {
  it.each(['id', 'name', 'organization', 'created_at'])('deletes no key if a row lacks %s', async (field) => {
    lab.pass(6 * MINUTE);
    for (const broken of [0, 1])
      expect(
        await keysAfter((rows) => rows.map((row, index) => (index === broken ? set(field)(row) : row)), KEYS),
      ).toBe(2);
  });
});

it('says nothing of the answer to the creation of a key that does not fit: it may have the key', async () => {
  const fresh = new KeyLab();
  fresh.onAnswer = (what, answer) =>
    what.startsWith('POST') && answer.statusCode === 201
      ? { ...answer, text: '{"kee":["hunter2"]}' }
      : answer;
  const error: unknown = await fresh.resource('Create').catch((cause: unknown) => cause);
  const said = `${inspect(error)}${inspect(fresh.log)}`;
  expect(said).toMatch(/coderd's answer 201 has an unexpected format$/m);
  expect(said).not.toMatch(/hunter2|kee\b/);
});
