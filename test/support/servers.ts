/** Servers on this machine over HTTP and TLS, with a self-signed certificate. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

/** The servers of one test. */
export class Servers {
  readonly #closers: (() => Promise<void>)[] = [];

  /** Returns the port. */
  async listen(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const sockets = new Set<{ destroy(): void }>();
    server.on('connection', (socket) => sockets.add(socket));
    this.#closers.push(async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    });
    return (server.address() as AddressInfo).port;
  }

  /** Returns the URL. */
  async plain(listener: RequestListener): Promise<string> {
    return `http://127.0.0.1:${await this.listen(createServer(listener))}`;
  }

  /** Returns the URL. */
  async tls(certificate: Certificate, listener: RequestListener): Promise<string> {
    return `https://127.0.0.1:${await this.listen(createTlsServer(certificate, listener))}`;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}
