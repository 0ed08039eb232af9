/** The way to coderd: through a proxy, with a CA of one's own, and counted. */
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import type { CoderdHttpOptions } from '../../lambda/adapters/coderd/http/http.ts';
import { PATIENCE_OF_A_LOOK } from '../../lambda/adapters/coderd/http/retries.ts';
import { describeUnreachable } from '../../lambda/adapters/coderd/http/unreachable.ts';
import { CallCounter } from '../../lambda/adapters/shared/calls.ts';
import { coderdClient, listen, makeCertificate, serve, serveTls } from '../support/servers.ts';
import { table } from '../support/table.ts';

const pem = makeCertificate();
const empty: RequestListener = (_, response) => response.end('[]');
const plainCoderd = (listener = empty) => serve(listener);
const tlsCoderd = (certificate = pem) => serveTls(certificate, empty);

/** A proxy that answers CONNECT with this status, and connects if it is 200. */
async function startProxy(
  status = 200,
): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(500).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    const [host, port] = (request.url ?? '').split(':');
    socket.on('error', () => {});
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const onwards = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onwards.pipe(socket).pipe(onwards);
    });
    onwards.on('error', () => socket.end('HTTP/1.1 502 No\r\n\r\n'));
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, asked };
}

const PATIENCE = { ...PATIENCE_OF_A_LOOK, firstRetryMs: 5 };

const organizations = ({ url, ...options }: Omit<CoderdHttpOptions, 'token'>) =>
  new CoderdAdapter(coderdClient(url, { patience: PATIENCE, ...options })).organizations();

const authorityOf = (url: string): string => url.replace(/^https?:\/\//, '');

describe('through a proxy', () => {
  it('tunnels plain http, so that every limit applies', async () => {
    const [url, proxy] = [await plainCoderd(), await startProxy()];
    expect(await organizations({ url, proxy: proxy.url })).toMatchObject({ status: 'ok' });
    expect(proxy.asked).toEqual([`CONNECT ${authorityOf(url)}`]);
  });

  it('keeps TLS end to end with coderd and trusts the CA bundle', async () => {
    const [url, proxy] = [await tlsCoderd(), await startProxy()];
    const given = { url, proxy: proxy.url };
    expect(await organizations({ ...given, caBundle: pem.cert })).toMatchObject({ status: 'ok' });
    expect((await organizations(given)).error).toMatch(
      /no answer from coderd through the proxy http:\S+ \(self-signed certificate\); a proxy that intercepts TLS signs with its own CA; add that CA to coder\.caBundle/,
    );
  });

  it.each(table<{ status: number; advice: string }>`
    status | advice
    407    | the proxy requires a user name and a password, which the autoscaler does not send; allow requests to coderd without them
    403    | the proxy forbids it; allow coder.url's host and port there
    502    | the proxy cannot reach coderd; check coder.url, and DNS and routes of the proxy
  `)('names the proxy and the advice if the proxy answers $status', async ({ status, advice }) => {
    const proxy = await startProxy(status);
    const { error } = await organizations({ url: 'https://coder.example.com', proxy: proxy.url });
    expect(error).toContain(
      `no answer from coderd through the proxy ${proxy.url} (Proxy response (${status})`,
    );
    expect(error).toContain(advice);
  });

  it('names the proxy if nothing listens there', async () => {
    const { error } = await organizations({ url: 'https://coder.example.com', proxy: 'http://127.0.0.1:1' });
    expect(error).toBe(
      'listing organizations: no answer from coderd through the proxy http://127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1); no proxy listens there; check the host and port in coder.proxy',
    );
  });

  it('gives up a proxy that does not answer', async () => {
    const silent = createServer();
    silent.on('connect', (_, socket) => {
      socket.on('error', () => {});
    });
    const proxy = `http://127.0.0.1:${await listen(silent)}`;
    const { error } = await organizations({
      url: 'https://coder.example.com',
      proxy,
      patience: { ...PATIENCE, silentMs: 300 },
    });
    expect(error).toMatch(/no answer from coderd through the proxy \S+ \(Headers Timeout Error\)/);
  });
});

describe('without a proxy', () => {
  it('trusts a private CA only with the CA bundle', async () => {
    const url = await tlsCoderd();
    expect(await organizations({ url, caBundle: pem.cert })).toMatchObject({ status: 'ok' });
    expect((await organizations({ url })).error).toMatch(
      /\(self-signed certificate\); if your own CA signed its certificate, add that CA to coder\.caBundle/,
    );
  });

  it('reports https to a port without TLS', async () => {
    const { error } = await organizations({ url: (await plainCoderd()).replace('http:', 'https:') });
    expect(error).toMatch(/this port does not use TLS; check coder\.url$/);
    expect(error).not.toContain('\n');
  });

  it('reports a certificate for another name, not a missing CA', async () => {
    const other = makeCertificate('DNS:coder.example.com');
    const { error } = await organizations({ url: await tlsCoderd(other), caBundle: other.cert });
    expect(error).toMatch(/its certificate is for another name; check the host in coder\.url/);
    expect(error).not.toContain('caBundle');
  });

  it.each([undefined, 'http://proxy.example.com:3128'])(
    'reports an expired certificate, with the proxy %s',
    (proxy) => {
      expect(describeUnreachable(new Error('certificate has expired'), proxy)).toMatch(
        /its certificate has expired or is not valid yet; renew it, and check the host's clock$/,
      );
    },
  );

  it.each([
    { server: 'coderd', says: 'Client sent an HTTP request to an HTTPS server.\n' },
    { server: 'a load balancer', says: '<center>The plain HTTP request was sent to HTTPS port</center>' },
  ])('reports http to a TLS port of $server', async ({ says }) => {
    const url = await plainCoderd((_, response) => response.writeHead(400).end(says));
    expect((await organizations({ url })).error).toBe(
      'listing organizations: coderd answered 400: this port speaks TLS; write https in coder.url',
    );
  });
});

describe('the call counter', () => {
  it('counts requests with their retries, and throttled ones separately', async () => {
    const answers = [429, 500, 200];
    const url = await plainCoderd((_, response) => {
      response.writeHead(answers.shift() ?? 200, { 'retry-after': '0' }).end('[]');
    });
    const calls = new CallCounter();
    expect(await organizations({ url, calls })).toMatchObject({ status: 'ok' });
    expect(calls.take().coderd).toEqual({ requests: 3, throttled: 1 });
  });

  it('counts requests without an answer', async () => {
    const calls = new CallCounter();
    expect(await organizations({ url: 'http://127.0.0.1:1', calls })).toMatchObject({ status: 'failed' });
    expect(calls.take().coderd).toEqual({ requests: 3, throttled: 0 });
  });
});
