/** What `doctor --deep` says of a list whose rows the product leaves out. */
import { expect, it } from 'vitest';
import { compareWithAll } from '../../../cli/doctor/answers/answer-differences.ts';
import type { DeepQuestion } from '../../../cli/doctor/answers/read-only-steps.ts';
import { listOrPage, memberRows, workspacesPageSchema } from '../../../lambda/adapters/coderd/http/lists.ts';

const QUESTION: DeepQuestion = {
  ...{ step: 'members', path: '/organizations/{organization}/members', query: [] },
  ...{ method: 'GET', schema: memberRows },
};
/** Of a release that gives a page instead of a list, which its reader has learned. */
const PAGE = listOrPage(memberRows, 'members');
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
  {
    body: { members: [{ user_id: 'a' }], count: 1 },
    schema: PAGE,
    verdict: { kind: 'same' },
    because: 'the rows of a page have all fields',
  },
  {
    body: { members: [{ user_id: 'a' }], count: 7 },
    schema: PAGE,
    verdict: { kind: 'same' },
    because: 'the question may ask for fewer rows than there are',
  },
  {
    body: { members: [{ user_id: 'a' }, { name: 'b' }], count: 2 },
    schema: PAGE,
    verdict: { kind: 'differs', said: expect.stringContaining('"b" (user_id: expected string') },
    because: 'a look would leave a row of the page out',
  },
])('is $verdict.kind, because $because', ({ body, verdict, schema = memberRows }) => {
  expect(compareWithAll({ ...QUESTION, schema }, { status: 200, body }, TESTED as never)).toMatchObject(
    verdict,
  );
});

it.each([
  {
    lacks: 'owner_name',
    verdict: { kind: 'differs', isUnreadable: false, said: '200 without workspaces.owner_name' },
  },
  {
    lacks: 'template_id',
    verdict: { kind: 'differs', isUnreadable: true, said: expect.stringContaining('template_id') },
  },
])('compares the rows of a page of workspaces: without $lacks', ({ lacks, verdict }) => {
  const job = { status: 'running' };
  const workspace = {
    ...{ id: 'w', organization_id: 'o', template_id: 't', owner_name: 'anna' },
    latest_build: { transition: 'start', job },
  };
  const lacking = Object.fromEntries(Object.entries(workspace).filter(([name]) => name !== lacks));
  const question: DeepQuestion = { ...QUESTION, schema: workspacesPageSchema };
  const pageOf = (...workspaces: readonly object[]) => ({ workspaces, count: workspaces.length });
  const entries = [{ step: 'members', asked, status: 200, body: pageOf(workspace) }];
  const tested = { version: 'v2.36.0', transcripts: [{ entries }] };
  const rows = verdict.isUnreadable ? [workspace, lacking] : [lacking];
  expect(compareWithAll(question, { status: 200, body: pageOf(...rows) }, tested as never)).toMatchObject(
    verdict,
  );
});
