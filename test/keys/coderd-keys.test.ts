/** What the key function sends to coderd about keys, and what it takes each answer for. */
import { describe, expect, it } from 'vitest';
import { CoderdError } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import { CoderdKeys } from '../../lambda/keys/adapters/coderd-keys.ts';
import { START } from '../support/lab.ts';

const ORG = { id: 'org-1' as OrganizationId, name: 'data' };
const KEYS = '/api/v2/organizations/org-1/provisionerkeys';
const RIGHTS = 'POST /api/v2/authcheck';
const ROLE =
  "give the token's user the role organization template admin there, or a custom role that may create, read and delete provisioner_daemon and read provisioner_jobs";
const DATE = (START - 5_000) as EpochMs;

type Request = Parameters<ConstructorParameters<typeof CoderdKeys>[0]>[0];
type Answer = {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly date?: null;
};

/** coderd with an answer for each request, and what was sent to it. */
function coderdWith(answers: Readonly<Record<string, Answer | Error>>) {
  const sent: Request[] = [];
  const send = async (request: Request) => {
    sent.push(request);
    const answer = answers[`${request.method} ${request.path}`] ?? answers.other;
    if (answer === undefined) throw new Error(`no answer for ${request.method} ${request.path}`);
    if (answer instanceof Error) throw answer;
    const { status = 200, body = {}, text = JSON.stringify(body), date } = answer;
    return { statusCode: status, headers: {}, text, date: date === null ? undefined : DATE };
  };
  return { keys: new CoderdKeys(send, { now: () => START }), sent };
}

const mayAll = (may: boolean): Answer => ({
  body: { 'read org-1': may, 'create org-1': may, 'delete org-1': may },
});
const said = (status: number, message = 'no'): Answer => ({ status, body: { message } });
const aKey = {
  id: 'k',
  name: 'key',
  organization: 'org-1',
  created_at: '2026-03-01T09:00:00Z',
  tags: { a: '1' },
};

/** What can be asked of an organization, with the beginning of each error. */
const ASKED = {
  list: {
    request: `GET ${KEYS}`,
    doing: 'listing provisioner keys of organization "data"',
    ask: (keys: CoderdKeys): Promise<unknown> => keys.list(ORG),
  },
  create: {
    request: `POST ${KEYS}`,
    doing: 'creating the provisioner key "new" in organization "data"',
    ask: (keys: CoderdKeys): Promise<unknown> => keys.create(ORG, { name: 'new', tags: { a: '1' } }),
  },
  delete: {
    request: `DELETE ${KEYS}/old%2Fone`,
    doing: 'deleting the provisioner key "old/one" of organization "data"',
    ask: (keys: CoderdKeys): Promise<unknown> => keys.delete(ORG, 'old/one'),
  },
  daemons: {
    request: 'GET /api/v2/organizations/org-1/provisionerdaemons',
    doing: 'listing provisioner daemons of organization "data"',
    ask: (keys: CoderdKeys): Promise<unknown> => keys.daemons(ORG),
  },
  organizations: {
    request: 'GET /api/v2/organizations',
    doing: 'listing organizations',
    ask: (keys: CoderdKeys): Promise<unknown> => keys.organizations(),
  },
  rights: {
    request: RIGHTS,
    doing: "checking the rights of the token's user",
    ask: (keys: CoderdKeys): Promise<unknown> => keys.rights([ORG.id]),
  },
} as const;
const ALL = Object.keys(ASKED) as readonly (keyof typeof ASKED)[];

describe.each(ALL)('the answer to %s', (what) => {
  const { request, doing, ask } = ASKED[what];

  it.each([
    { status: 401, code: 'token', says: '; store a valid token in the secret of managedKeys.token' },
    { status: 403, code: 'licence', says: '; managed keys need a Premium licence of Coder' },
    { status: 429, code: 'unanswered', says: "; check coderd's log, and try again" },
    { status: 503, code: 'unanswered', says: "; check coderd's log, and try again" },
  ])('that is $status is an error $code, whatever the rights', async ({ status, code, says }) => {
    const { keys } = coderdWith({ [RIGHTS]: mayAll(false), [request]: said(status) });
    await expect(ask(keys)).rejects.toMatchObject({
      code,
      message: `${doing}: coderd answered ${status}: no${says}`,
    });
  });

  it('that has not come proves nothing, and keeps its cause', async () => {
    const cause = new CoderdError('unreachable', 'no answer within 10 s');
    const { keys } = coderdWith({ [request]: cause });
    await expect(ask(keys)).rejects.toMatchObject({
      code: 'unanswered',
      message: `${doing}: no answer within 10 s`,
      cause,
    });
  });

  it('that was not asked for, as the token could not be read, is an error token', async () => {
    const { keys } = coderdWith({ [request]: new Error('no token') });
    await expect(ask(keys)).rejects.toMatchObject({ code: 'token', message: `${doing}: no token` });
  });
});

describe.each(['list', 'daemons', 'create'] as const)('the answer to %s', (what) => {
  it('that is 404 says that the right is missing', async () => {
    const { request, doing, ask } = ASKED[what];
    const { keys } = coderdWith({ [request]: said(404) });
    await expect(ask(keys)).rejects.toMatchObject({
      code: 'forbidden',
      message: `${doing}: coderd answered 404: no; ${ROLE}`,
    });
  });
});

describe.each(['create', 'delete'] as const)('an answer 500 to %s', (what) => {
  const { request, doing, ask } = ASKED[what];
  const failed = {
    code: 'unanswered',
    message: `${doing}: coderd answered 500: no; check coderd's log, and try again`,
  };

  it('says that the right is missing if it is', async () => {
    const { keys } = coderdWith({ [request]: said(500), [RIGHTS]: mayAll(false) });
    await expect(ask(keys)).rejects.toMatchObject({
      code: 'forbidden',
      message: `${doing}: the role lacks the right to ${what} keys; ${ROLE}`,
    });
  });

  it.each([
    { rights: mayAll(true), because: 'the user has the right' },
    { rights: said(500), because: 'coderd does not tell the rights' },
    { rights: { body: { [`${what} org-1`]: true } }, because: 'other rights are missing' },
  ])('proves nothing if $because', async ({ rights }) => {
    const { keys } = coderdWith({ [request]: said(500), [RIGHTS]: rights });
    await expect(ask(keys)).rejects.toMatchObject(failed);
  });
});

it('asks for the rights only after an answer 500', async () => {
  const { keys, sent } = coderdWith({ other: said(400, 'bad name') });
  await expect(keys.create(ORG, { name: 'new', tags: {} })).rejects.toMatchObject({
    code: 'refused',
    message: 'creating the provisioner key "new" in organization "data": coderd answered 400: bad name',
  });
  expect(sent).toHaveLength(1);
});

describe('a key', () => {
  it('is created and deleted by requests that are sent once', async () => {
    const { keys, sent } = coderdWith({
      [ASKED.create.request]: { status: 201, body: { key: 'hunter2' } },
      [ASKED.delete.request]: { status: 204 },
    });
    const created = await keys.create(ORG, { name: 'new', tags: { a: '1' } });
    expect(created instanceof Secret && created.reveal()).toBe('hunter2');
    await keys.delete(ORG, 'old/one');
    expect(sent).toEqual([
      { method: 'POST', path: KEYS, body: '{"name":"new","tags":{"a":"1"}}', once: true },
      { method: 'DELETE', path: `${KEYS}/old%2Fone`, once: true },
    ]);
  });

  it('whose name is taken is told from one that was made', async () => {
    const { keys } = coderdWith({ other: said(409) });
    expect(await keys.create(ORG, { name: 'new', tags: {} })).toBe('name-taken');
  });

  it('that is gone already counts as deleted', async () => {
    await expect(coderdWith({ other: said(404) }).keys.delete(ORG, 'old')).resolves.toBeUndefined();
  });

  it('signs in itself when coderd is asked about it', async () => {
    const { keys, sent } = coderdWith({ other: { body: { ...aKey, tags: null } } });
    const key = new Secret('hunter2');
    const createdAt = Date.parse(aKey.created_at);
    expect(await keys.inspect(key)).toEqual({
      ...{ id: 'k', name: 'key', organization: 'org-1' },
      tags: {},
      createdAt,
    });
    expect(sent).toEqual([{ method: 'GET', path: '/api/v2/provisionerkeys/self', key }]);
  });

  it.each([
    { answer: said(401, 'provisioner daemon key invalid'), known: false },
    { answer: said(400, 'provisioner daemon key must be 43 characters'), known: false },
    { answer: said(401, 'You are signed out'), known: undefined },
    { answer: { status: 401, text: 'provisioner daemon key' }, known: undefined },
    { answer: said(403, 'provisioner daemon key invalid'), known: undefined },
    { answer: said(404, 'provisioner daemon key invalid'), known: undefined },
    { answer: said(500, 'provisioner daemon key invalid'), known: undefined },
  ])('is unknown to coderd only if coderd itself says so: $answer', async ({ answer, known }) => {
    const asked = coderdWith({ other: answer }).keys.inspect(new Secret('hunter2'));
    if (known === false) expect(await asked).toBeUndefined();
    else
      await expect(asked).rejects.toMatchObject({
        code: 'unanswered',
        message: expect.stringMatching(
          /^asking coderd about a provisioner key: coderd answered \d+.*; check coderd's log, and try again$/,
        ),
      });
  });
});

describe('a list', () => {
  it("has coderd's time, or that of AWS without one", async () => {
    const withDate = coderdWith({ other: { body: [aKey] } }).keys;
    expect(await withDate.list(ORG)).toMatchObject({ now: DATE, items: [{ id: 'k', tags: { a: '1' } }] });
    const without = coderdWith({ other: { body: [aKey], date: null } }).keys;
    expect((await without.list(ORG)).now).toBe(START);
  });

  it('of keys that is empty is one only with the right to read keys', async () => {
    const request = `GET ${KEYS}`;
    const empty = { [request]: { body: [] } };
    expect((await coderdWith({ ...empty, [RIGHTS]: mayAll(true) }).keys.list(ORG)).items).toEqual([]);
    for (const rights of [mayAll(false), { body: {} }])
      await expect(coderdWith({ ...empty, [RIGHTS]: rights }).keys.list(ORG)).rejects.toMatchObject({
        code: 'forbidden',
        message: `listing provisioner keys of organization "data": the list is empty, as the role lacks the right; ${ROLE}`,
      });
  });

  it('of daemons is asked for whole, with offline ones', async () => {
    const { keys, sent } = coderdWith({ other: { body: [] } });
    expect(await keys.daemons(ORG)).toEqual({ items: [], now: DATE });
    const path = '/api/v2/organizations/org-1/provisionerdaemons';
    expect(sent).toEqual([{ method: 'GET', path, query: { limit: '0', offline: 'true' } }]);
  });

  it('that cannot be read whole says what to do', async () => {
    const { keys } = coderdWith({ other: { body: [aKey, { ...aKey, id: 7 }] } });
    await expect(keys.list(ORG)).rejects.toMatchObject({
      code: 'unanswered',
      message: expect.stringMatching(
        /\. Keys are kept until the list is whole\. Look for a newer release of the autoscaler, or report this$/,
      ),
    });
  });

  it.each([
    { row: { key_id: 'k' }, lacks: 'last_seen_at' },
    { row: { last_seen_at: '2026-03-01T09:00:00Z' }, lacks: 'key_id' },
  ])('of daemons names the one that lacks $lacks', async ({ row, lacks }) => {
    const daemon = {
      id: 'd',
      name: 'cpu-1',
      organization_id: 'org-1',
      created_at: aKey.created_at,
      tags: {},
    };
    const { keys } = coderdWith({ other: { body: [{ ...daemon, ...row }] } });
    await expect(keys.daemons(ORG)).rejects.toMatchObject({
      code: 'unanswered',
      message: `listing provisioner daemons of organization "data": daemon "cpu-1" has no ${lacks}. Keys are kept until the list is whole. Look for a newer release of the autoscaler, or report this`,
    });
  });
});

it('asks for each right in each organization, and takes only true for a right', async () => {
  const other = 'org-2' as OrganizationId;
  const body = { 'read org-1': true, 'delete org-1': false, 'create org-2': true };
  const { keys, sent } = coderdWith({ other: { body } });
  expect([...(await keys.rights([ORG.id, other]))]).toEqual([
    ['org-1', { read: true, create: false, delete: false }],
    ['org-2', { read: false, create: true, delete: false }],
  ]);
  const check = (action: string, organization_id: string) => ({
    action,
    object: { resource_type: 'provisioner_daemon', organization_id },
  });
  const actions = ['read', 'create', 'delete'];
  const checks = Object.fromEntries(
    ['org-1', 'org-2'].flatMap((id) => actions.map((action) => [`${action} ${id}`, check(action, id)])),
  );
  expect(sent).toEqual([{ method: 'POST', path: '/api/v2/authcheck', body: JSON.stringify({ checks }) }]);
});
