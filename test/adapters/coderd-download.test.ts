/** Files of coderd, which are read as bytes and up to a limit. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../lambda/adapters/shared/secret.ts';

const servers: Server[] = [];
const clients: CoderdHttp[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  for (const server of servers.splice(0)) server.close();
});

/** Answers 401 to the first token, and `file` to the second one. */
async function serve(file: Uint8Array): Promise<CoderdHttp> {
  const server = createServer((request, response) => {
    response.statusCode = request.headers['coder-session-token'] === 'fresh' ? 200 : 401;
    response.end(response.statusCode === 200 ? file : '{"message":"expired"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = { read: async ({ fresh }: { fresh: boolean }) => new Secret(fresh ? 'fresh' : 'old') };
  const client = new CoderdHttp({ url, token });
  servers.push(server);
  clients.push(client);
  return client;
}

it('returns all bytes of a file as they are, after it has read the token again', async () => {
  const file = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
  const client = await serve(file);
  expect(Buffer.from(await client.download('/x', file.length)).equals(Buffer.from(file))).toBe(true);
});

it('refuses a file that is larger than the limit', async () => {
  const client = await serve(new Uint8Array(1_000_000));
  await expect(client.download('/x', 999_999)).rejects.toMatchObject({
    code: 'misfit',
    message: "coderd's file has more than 999999 bytes",
  });
});
