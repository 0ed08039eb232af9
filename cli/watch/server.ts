/**
 * Serves the page of `autoscaler watch` on loopback, and pushes frames to it with server-sent events. It
 * looks only while a page is open. A page of another site can neither read it nor make it look: the host
 * header, and the origin if there is one, must be ours, and the browser must not call the request cross-site.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { WatchFrame } from './frame.ts';

const HOST = '127.0.0.1';

export type WatchServerOptions = {
  /** 0: any free port. */
  readonly port: number;
  /** Milliseconds from one look to the next. */
  readonly everyMs: number;
  readonly look: () => Promise<WatchFrame>;
  /** Milliseconds since any fixed time. @default the machine's clock, which goes on while the machine sleeps */
  readonly now?: () => number;
};

/** How old the data of a frame are when it is sent, and at which age they tell no more what is so. */
type Seen = { readonly agoMs: number; readonly staleAfterMs: number };

/** Three intervals; a look takes a moment even where pages look more often. */
const STALE_AFTER = 3;
const SHORTEST_MS = 2_000;

export type WatchServer = {
  readonly url: string;
  /** Settles when a page opens. */
  readonly opened: Promise<void>;
  readonly close: () => Promise<void>;
};

/** Throws the error of `listen`, such as EADDRINUSE. */
export async function serveWatch(options: WatchServerOptions): Promise<WatchServer> {
  const page = readPage();
  const feed = new Feed(options);
  const server = createServer((request, response) => {
    const { port: own } = server.address() as AddressInfo;
    if (!isOwn(request, own)) return end(response, 403, 'This page answers to its own address only.\n');
    if (request.method !== 'GET') return end(response, 405, 'Only GET.\n');
    if (request.url === '/') return void response.writeHead(200, page.headers).end(page.html);
    if (request.url === '/events') return feed.add(request, response);
    return end(response, 404, 'There is / and /events.\n');
  });
  await once(server.listen(options.port, HOST), 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${own}/`,
    opened: feed.opened.promise,
    close: () =>
      new Promise((resolve) => {
        feed.end();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The host tells a rebound name. A link of another site may open the page, but nothing that starts looks. */
function isOwn({ url, headers }: IncomingMessage, port: number): boolean {
  const { host = '', origin } = headers;
  if (![`${HOST}:${port}`, `localhost:${port}`].includes(host)) return false;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  return url === '/' || SITES.has(headers['sec-fetch-site']);
}

/** A program that is no browser sends none. `same-site`: a server at another port of this machine. */
const SITES: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none']);

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', 'cache-control': 'no-store' }).end(text);
}

/** Nothing but the page's own style and script runs, and it connects to this server only. */
function readPage() {
  const html = readFileSync(new URL('./page.html', import.meta.url), 'utf8');
  const hashOf = (tag: string): string => {
    const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)?.[1] ?? '';
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  };
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf('style')}`,
    `script-src ${hashOf('script')}`,
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  };
}

/** One look at a time for all open pages; none while no page is open. */
class Feed {
  readonly opened = Promise.withResolvers<void>();
  readonly #pages = new Set<ServerResponse>();
  readonly #options: WatchServerOptions;
  #isRunning = false;
  #lastLookAt = Number.NEGATIVE_INFINITY;
  #last: { readonly frame: WatchFrame; readonly readAt: number } | undefined;
  /** Why the last look failed. */
  #trouble: string | undefined;

  constructor(options: WatchServerOptions) {
    this.#options = options;
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    if (this.#last !== undefined) response.write(this.#frameEvent(this.#last));
    if (this.#trouble !== undefined) response.write(this.#trouble);
    this.#pages.add(response);
    this.opened.resolve();
    request.once('close', () => this.#pages.delete(response));
    if (!this.#isRunning) void this.#run();
  }

  end(): void {
    for (const page of this.#pages) page.end('event: ended\ndata: \n\n');
    this.#pages.clear();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#pages.size > 0) {
      await sleep(Math.max(0, this.#lastLookAt + this.#options.everyMs - performance.now()));
      if (this.#pages.size === 0) break;
      this.#lastLookAt = performance.now();
      const event = await this.#event();
      // a page that does not read, such as a suspended one, gets no more to keep
      for (const page of this.#pages) if (!page.writableNeedDrain) page.write(event);
    }
    this.#isRunning = false;
  }

  async #event(): Promise<string> {
    const readAt = this.#now();
    try {
      this.#last = { frame: await this.#options.look(), readAt };
      this.#trouble = undefined;
      return this.#frameEvent(this.#last);
    } catch (error) {
      this.#trouble = `event: trouble\ndata: ${JSON.stringify(messageOf(error))}\n\n`;
      return this.#trouble;
    }
  }

  /** The age counts from the begin of the look, not from when a page gets the frame. */
  #frameEvent({ frame, readAt }: { readonly frame: WatchFrame; readonly readAt: number }): string {
    const staleAfterMs = STALE_AFTER * Math.max(SHORTEST_MS, this.#options.everyMs);
    const seen: Seen = { agoMs: this.#now() - readAt, staleAfterMs };
    return `event: frame\ndata: ${JSON.stringify({ ...frame, seen })}\n\n`;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}
