/** Servers on this machine over HTTP and TLS, with a self-signed certificate, and clients of them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { CoderdHttp, type CoderdHttpOptions } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';

export type Certificate = { readonly key: string; readonly cert: string };

/** Makes a certificate for the address 127.0.0.1, or for another name. */
export function makeCertificate(name = 'IP:127.0.0.1'): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'autoscaler-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')] as const;
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', '/CN=coderd', '-addext', `subjectAltName=${name}`];
  const made = [...curve, ...names, '-keyout', key, '-out', cert, '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...made], { stdio: 'ignore' });
  const pem = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return pem;
}

/** Takes what closes a server. A test leaves it out: its servers close when it ends. */
export type CloseLater = (close: () => Promise<void>) => void;

/** Returns the port. */
export async function listen(server: Server, closeLater: CloseLater = onTestFinished): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  closeLater(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

/** Returns the URL. */
export async function serve(listener: RequestListener, closeLater?: CloseLater): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(listener), closeLater)}`;
}

/** Returns the URL. */
export async function serveTls(
  certificate: Certificate,
  listener: RequestListener,
  closeLater?: CloseLater,
): Promise<string> {
  return `https://127.0.0.1:${await listen(createTlsServer(certificate, listener), closeLater)}`;
}

/** A client of coderd that closes when the test ends. */
export function coderdClient(
  url: string,
  {
    token = 'token',
    ...options
  }: Partial<Omit<CoderdHttpOptions, 'token'>> & {
    readonly token?: string | CoderdHttpOptions['token'];
  } = {},
): CoderdHttp {
  const read = typeof token === 'string' ? { read: async () => new Secret(token) } : token;
  const http = new CoderdHttp({ url, token: read, ...options });
  onTestFinished(() => http.close());
  return http;
}
