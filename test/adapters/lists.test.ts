/** The lists of coderd: what each reader gives, and what it says that it left out. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  daemonRows,
  jobRows,
  keyRows,
  listOrPage,
  memberRows,
  namedMemberRows,
  organizationRows,
  organizationRowsWithDefault,
  templateRows,
  workspacesPageSchema,
} from '../../lambda/adapters/coderd/http/lists.ts';
import { getList } from '../../lambda/adapters/coderd/http/reading.ts';
import { isRowsSchema } from '../../lambda/adapters/shared/rows.ts';
import { readWhole } from '../../lambda/keys/adapters/coderd-keys.ts';

const at = '2026-11-20T09:00:00Z';
const ORGANIZATION = { id: 'o', name: 'default' };
const JOB = { id: 'j', created_at: at, status: 'pending', organization_id: 'o', tags: {}, type: 'x' };
const DAEMON = { id: 'd', organization_id: 'o', created_at: at, name: 'cpu-1', tags: {} };
const KEY = { id: 'k', name: 'key', organization: 'o', created_at: at };
const TEMPLATE = { id: 't', organization_id: 'o', active_version_id: 'v', name: 'linux' };
const WORKSPACE = {
  ...{ id: 'w', organization_id: 'o', template_id: 't', name: 'mine' },
  latest_build: { transition: 'start', job: { status: 'running' } },
};

describe('the reader of a list', () => {
  it.each([
    { list: 'organizations', rows: organizationRows, row: ORGANIZATION, needs: ['id', 'name'] },
    {
      list: 'organizations with the default',
      rows: organizationRowsWithDefault,
      row: ORGANIZATION,
      needs: ['id', 'name'],
    },
    { list: 'jobs', rows: jobRows, row: JOB, needs: Object.keys(JOB) },
    { list: 'daemons', rows: daemonRows, row: DAEMON, needs: Object.keys(DAEMON) },
    { list: 'keys', rows: keyRows, row: KEY, needs: Object.keys(KEY) },
    { list: 'members', rows: memberRows, row: { user_id: 'u' }, needs: ['user_id'] },
    { list: 'members with names', rows: namedMemberRows, row: { username: 'anna' }, needs: ['username'] },
    { list: 'templates', rows: templateRows, row: TEMPLATE, needs: Object.keys(TEMPLATE) },
    {
      ...{ list: 'workspaces', rows: workspacesPageSchema.shape.workspaces, row: WORKSPACE },
      needs: ['id', 'organization_id', 'template_id', 'latest_build'],
    },
  ])(
    'of $list gives the rows that fit, and leaves out each one that lacks a field',
    ({ rows, row, needs }) => {
      const fields: Readonly<Record<string, unknown>> = row;
      for (const field of needs) {
        const { [field]: _, ...lacking } = fields;
        const { items, leftOut } = rows.parse([row, lacking]);
        expect(items, field).toHaveLength(1);
        expect(leftOut, field).toEqual([expect.objectContaining({ why: expect.stringContaining(field) })]);
      }
      expect(rows.parse([row])).toMatchObject({ items: [{}], leftOut: [] });
    },
  );

  it('does not fit a list of which no row can be read, nor anything else', () => {
    for (const value of [[{}], [7], null, {}, { provisioner_daemons: [DAEMON], count: 1 }, 'text'])
      expect(daemonRows.safeParse(value).success).toBe(false);
  });
});

describe('the reader of a list or a page', () => {
  const rows = listOrPage(daemonRows, 'provisioner_daemons');

  it('takes both forms, and leaves out each row that lacks a field', () => {
    const items = [expect.objectContaining({ name: 'cpu-1' })];
    for (const field of Object.keys(DAEMON)) {
      const { [field]: _, ...lacking }: Readonly<Record<string, unknown>> = DAEMON;
      const leftOut = [expect.objectContaining({ why: expect.stringContaining(field) })];
      for (const list of [[DAEMON, lacking], { provisioner_daemons: [DAEMON, lacking], count: 2 }])
        expect(rows.parse(list), field).toMatchObject({ items, leftOut });
    }
    expect(rows.row).toBe(daemonRows.row);
  });

  it.each([
    { count: 1, limit: undefined, incomplete: undefined, because: 'it has all' },
    {
      ...{ count: 2, limit: undefined, because: 'a row is missing' },
      incomplete: 'coderd counts 2 provisioner daemons and lists 1',
    },
    { count: 2, limit: 1, incomplete: undefined, because: 'the request allows one row' },
    {
      ...{ count: 3, limit: 2, because: 'the request allows two rows' },
      incomplete: 'coderd counts 3 provisioner daemons and lists 1',
    },
  ])('says "$incomplete" of a page of one of $count rows with limit $limit: $because', (row) => {
    const page = { provisioner_daemons: [DAEMON], count: row.count };
    const { incomplete, count } = listOrPage(daemonRows, 'provisioner_daemons', row.limit).parse(page);
    expect({ incomplete, count }).toEqual({ incomplete: row.incomplete, count: row.count });
  });

  it('counts a row that cannot be read as listed', () => {
    expect(rows.parse({ provisioner_daemons: [DAEMON, {}], count: 2 }).incomplete).toBeUndefined();
  });

  it.each([
    { body: { provisioner_daemons: [{}], count: 1 }, path: 'provisioner_daemons.0.id' },
    { body: [{}], path: '0.id' },
    { body: { provisioner_daemons: [DAEMON] }, path: '' },
    { body: { provisioner_daemons: 7, count: 1 }, path: '' },
    { body: { daemons: [DAEMON], count: 1 }, path: '' },
    { body: null, path: '' },
  ])('does not fit $body, and names the place "$path"', ({ body, path }) => {
    expect(rows.safeParse(body).error?.issues[0]?.path.join('.')).toBe(path);
  });

  it('is needed where a list is read: a plain union has lost `row` and does not compile', () => {
    const union = z.union([
      daemonRows,
      z.object({ daemons: daemonRows }).transform(({ daemons }) => daemons),
    ]);
    expect(isRowsSchema(union)).toBe(false);
    expect(isRowsSchema(rows)).toBe(true);
    const refused = [
      // @ts-expect-error: no `row`
      (http: never, answer: never) => [getList(http, '', {}, union), answer],
      // @ts-expect-error: no `row`
      (http: never, answer: never) => [readWhole('', answer, union), http],
    ];
    expect(refused).toHaveLength(2);
  });
});
