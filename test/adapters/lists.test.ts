/** The lists of coderd: what each reader gives, and what it says that it left out. */
import { describe, expect, it } from 'vitest';
import {
  daemonRows,
  jobRows,
  keyRows,
  memberRows,
  namedMemberRows,
  organizationRows,
  organizationRowsWithDefault,
  templateRows,
  workspacesPageSchema,
} from '../../lambda/adapters/coderd/http/lists.ts';

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
