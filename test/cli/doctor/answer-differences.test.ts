/** What `doctor --deep` says of a list whose rows the product leaves out. */
import { expect, it } from 'vitest';
import { compareWithAll } from '../../../cli/doctor/answers/answer-differences.ts';
import { memberRows } from '../../../lambda/adapters/coderd/http/lists.ts';

const QUESTION = {
  ...{ step: 'members', method: 'GET', path: '/organizations/{organization}/members', query: [] },
  schema: memberRows,
} as const;
const asked = 'GET /organizations/{organization}/members as reader';
const TESTED = {
  version: 'v2.36.0',
  transcripts: [{ entries: [{ step: 'members', asked, status: 200, body: [{ user_id: 'a' }] }] }],
};

it.each([
  { body: [{ user_id: 'a' }, { user_id: 'b' }], verdict: { kind: 'same' }, because: 'it reads each row' },
  {
    body: [{ user_id: 'a' }, { name: 'b' }],
    verdict: {
      ...{ kind: 'differs', isUnreadable: true },
      said: '200 with another shape, the list: 1 of 2 rows cannot be read and is left out: "b" (user_id: expected string, saw nothing)',
    },
    because: 'a look would leave a row out',
  },
])('is $verdict.kind, because $because', ({ body, verdict }) => {
  expect(compareWithAll(QUESTION, { status: 200, body }, TESTED as never)).toMatchObject(verdict);
});
