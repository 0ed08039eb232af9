/** Servers that repeat the session token in their answers: no message has it, or a part of it. */
import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import { CoderdKeys } from '../../lambda/keys/adapters/coderd-keys.ts';
import { askWith } from '../../lambda/keys/connect.ts';
import { START } from '../support/lab.ts';
import { coderdClient, serve } from '../support/servers.ts';

const TOKEN = 'Qx7vRk2mPz-hT9wLc4bYn8sJd3gFf6aKe';
/** A pre-shared key may have any visible character. */
const STRANGE = 'pre/shared+key="a%b\\c"<d>&e?f';
const PART = 6;

type Echo = (token: string, response: ServerResponse) => void;
const answer = (status: number, body: string, headers = {}): ((response: ServerResponse) => void) => {
  return (response) => response.writeHead(status, headers).end(body);
};
const goJson = (value: object): string =>
  JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026');
const percent = encodeURIComponent;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

const ECHOES: readonly { readonly place: string; readonly echo: Echo }[] = [
  {
    place: 'the message of an error',
    echo: (token, to) => answer(400, JSON.stringify({ message: `who is ${token}?` }))(to),
  },
  {
    place: 'the message of an error, escaped as Go does',
    echo: (token, to) => answer(500, goJson({ message: `who is ${token}?` }))(to),
  },
  {
    place: 'the detail of an error that is cut in the middle of it',
    echo: (token, to) => answer(403, JSON.stringify({ message: 'No.', detail: 'x'.repeat(275) + token }))(to),
  },
  {
    place: 'a value of the wrong type',
    echo: (token, to) => answer(200, JSON.stringify([{ id: [], name: { [token]: 1 } }]))(to),
  },
  {
    place: 'a value that is cut in the middle of it',
    echo: (token, to) => answer(200, JSON.stringify('x'.repeat(40) + token))(to),
  },
  {
    place: 'the content type',
    echo: (token, to) => answer(200, '<html>', { 'content-type': `text/html; as=${token}` })(to),
  },
  {
    place: 'the target of a redirect',
    echo: (token, to) => answer(302, '', { location: `https://sso/?${token}` })(to),
  },
  {
    place: 'the target of a redirect that is cut in the middle of it',
    echo: (token, to) => answer(302, '', { location: `https://${'x'.repeat(175)}/?${token}` })(to),
  },
  {
    place: 'the target of a redirect, percent-encoded',
    echo: (token, to) => answer(307, '', { location: `https://sso/?back=${percent(token)}` })(to),
  },
  {
    place: 'the target of a redirect, as base64',
    echo: (token, to) => answer(307, '', { location: `https://sso/?state=${base64url(token)}` })(to),
  },
  {
    place: 'the message of an error, as base64',
    echo: (token, to) => answer(400, JSON.stringify({ message: base64(token) }))(to),
  },
  {
    place: 'a header that is not HTTP',
    echo: (token, to) => to.socket?.end(`HTTP/1.1 200 OK\r\n${token}\u0001: ${token}\r\n\r\n`),
  },
];

function tokenOf({ headers }: Parameters<RequestListener>[0]): string {
  return String(headers['coder-session-token']);
}

async function connectTo(echo: Echo, token: string): Promise<CoderdHttp> {
  const url = await serve((request, response) => echo(tokenOf(request), response));
  return coderdClient(url, { token, patience: { silentMs: 8_000, retryMs: 0, firstRetryMs: 1 } });
}

/** Any six characters of the token, in a form in which a server may write it. */
function partsOf(token: string): readonly string[] {
  return [token, percent(token), JSON.stringify(token), base64(token), base64url(token)].flatMap((form) =>
    Array.from({ length: Math.max(0, form.length - PART) }, (_, at) => form.slice(at, at + PART)),
  );
}

describe.each([TOKEN, STRANGE])('the token %s', (token) => {
  it.each(ECHOES)('is hidden in $place', async ({ echo }) => {
    const http = await connectTo(echo, token);
    const { status, error = '' } = await new CoderdAdapter(http).organizations();
    expect(status).not.toBe('ok');
    expect(partsOf(token).filter((part) => error.includes(part))).toEqual([]);
  });
});

it.each(ECHOES)('hides the token of the key function in $place', async ({ echo }) => {
  const http = await connectTo(echo, TOKEN);
  const keys = new CoderdKeys(askWith(http, { read: async () => new Secret(TOKEN) }), { now: () => START });
  const organization = { id: 'some-id' as OrganizationId, name: 'data' };
  const failure = await keys.list(organization).catch((cause: unknown) => cause);
  expect(failure).toBeInstanceOf(Error);
  expect(partsOf(TOKEN).filter((part) => String(failure).includes(part))).toEqual([]);
});

it('hides the token in the data of an answer, and keeps the rest', async () => {
  const echo: Echo = (token, to) => answer(200, JSON.stringify([{ id: 'a', name: `of ${token}` }]))(to);
  const { items } = await new CoderdAdapter(await connectTo(echo, TOKEN)).organizations();
  expect(items).toEqual([{ id: 'a', name: 'of (hidden)' }]);
});

it('changes no data because of a token that is shorter than any of coderd', async () => {
  const echo: Echo = (_, to) => answer(200, JSON.stringify([{ id: 'a', name: 'a-team' }]))(to);
  const { items } = await new CoderdAdapter(await connectTo(echo, 'a')).organizations();
  expect(items).toEqual([{ id: 'a', name: 'a-team' }]);
});
