/**
 * The connection pool for one coderd. Its proxy is the setting `coder.proxy`, not HTTPS_PROXY: so the function
 * and the command line use the same route, and a variable in Lambda cannot divert a direct connection.
 */
import { rootCertificates } from 'node:tls';
import { getHeapStatistics } from 'node:v8';
import { Agent, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { IdleLimit } from '../../shared/fresh-connections.ts';

type DispatcherOptions = {
  /** PEM text of further CA certificates, in addition to the well-known authorities. */
  readonly caBundle?: string | undefined;
  /** The URL of an HTTP proxy. It only opens a tunnel (CONNECT), so TLS is end to end with coderd. */
  readonly proxy?: string | undefined;
  /** The longest time without data from coderd, in milliseconds. */
  readonly silentMs: number;
  /** The longest answer. @default `MOST_BYTES` */
  readonly mostBytes?: number | undefined;
};

const CONNECT_MS = 3_000;
/**
 * A 32nd of the heap: 16 MiB of 512 MB, about 15,000 jobs. An answer and its rows take up to 8 times its size,
 * and eight in parallel 3 times their sum, as texts are parsed one after another. So eight fit.
 */
export const MOST_BYTES = Math.floor(getHeapStatistics().heap_size_limit / 32);

/** The connections to one coderd, none of which is used after a long idle time. */
export class FreshDispatcher {
  readonly #make: () => Dispatcher;
  readonly #limit: IdleLimit;
  #current: Dispatcher;

  constructor(make: () => Dispatcher, now?: () => number) {
    this.#make = make;
    this.#limit = new IdleLimit(now);
    this.#current = make();
  }

  /** For each request anew. Requests in progress keep the one that they have. */
  get(): Dispatcher {
    if (this.#limit.isDue()) {
      this.#current.close().catch(() => {});
      this.#current = this.#make();
    }
    return this.#current;
  }

  close(): Promise<void> {
    return this.#current.close();
  }
}

export function makeDispatcher({
  caBundle,
  proxy,
  silentMs,
  mostBytes = MOST_BYTES,
}: DispatcherOptions): Dispatcher {
  const limits = {
    connections: 32,
    headersTimeout: silentMs,
    bodyTimeout: silentMs,
    maxResponseSize: mostBytes,
  } as const;
  const connectMs = Math.min(CONNECT_MS, silentMs);
  const tls = {
    timeout: connectMs,
    ...(caBundle === undefined ? {} : { ca: withKnownAuthorities(caBundle) }),
  };
  return proxy === undefined
    ? new Agent({ ...limits, connect: tls })
    : proxyAgent(proxy, connectMs, { ...limits, requestTls: tls });
}

/** Always a tunnel: plain forwarding (http only) would ignore the limits. */
function proxyAgent(uri: string, connectMs: number, options: Omit<ProxyAgent.Options, 'uri'>): ProxyAgent {
  return new ProxyAgent({
    ...options,
    uri,
    proxyTunnel: true,
    connectTimeout: connectMs,
    // A proxy that accepts the connection but never answers CONNECT counts as unreachable.
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: connectMs }),
  });
}

/** The option `ca` replaces the well-known authorities, so the list has to include them. */
function withKnownAuthorities(caBundle: string): string[] {
  return [...rootCertificates, caBundle];
}
