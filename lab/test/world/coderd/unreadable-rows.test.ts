import { expect, it } from 'vitest';
import { withUnreadable } from '../../../world/coderd/routes/unreadable-rows.ts';

const rows = [
  { id: 'a', tags: {} },
  { id: 'b', tags: {} },
];
const broken = [
  { id: 'a', tags: {} },
  { id: 'b', tags: 7, template_id: 7, active_version_id: 7 },
];

it.each([
  { form: 'a list', body: rows, expected: broken },
  {
    form: 'a page of workspaces',
    body: { workspaces: rows, count: 2 },
    expected: { workspaces: broken, count: 2 },
  },
  {
    form: 'a page of daemons',
    body: { provisioner_daemons: rows, count: 2 },
    expected: { provisioner_daemons: broken, count: 2 },
  },
  { form: 'one row', body: rows[1], expected: rows[1] },
  { form: 'names', body: { names: ['a', 'b', null] }, expected: { names: ['a', 'b', null] } },
  { form: 'no body', body: undefined, expected: undefined },
])('breaks the rows with an id in $form', ({ body, expected }) => {
  expect(withUnreadable({ status: 200, body }, new Set(['b']))).toEqual({ status: 200, body: expected });
});
