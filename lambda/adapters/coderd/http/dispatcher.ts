/**
 * Makes the connection pool for one coderd, direct or through a proxy, with timeouts.
 *
 * The proxy comes from the setting `coder.proxy`, not from HTTPS_PROXY. So the function and the
 * command line use the same route, and a variable in Lambda cannot divert a direct connection.
 */
import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, Pool, ProxyAgent } from 'undici';

export type DispatcherOptions = {
  /** PEM text of further CA certificates, in addition to the well-known authorities. */
  readonly caBundle?: string | undefined;
  /**
   * The URL of an HTTP proxy. It only opens a tunnel (CONNECT), so TLS is end to end with coderd.
   */
  readonly proxy?: string | undefined;
  /** The longest time without data from coderd, in milliseconds. */
  readonly silentMs: number;
};

const CONNECT_MS = 3_000;
/** An answer with 10,000 jobs has about 10 MB. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

export function makeDispatcher({ caBundle, proxy, silentMs }: DispatcherOptions): Dispatcher {
  const limits = {
    connections: 16,
    headersTimeout: silentMs,
    bodyTimeout: silentMs,
    maxResponseSize: MAX_BODY_BYTES,
  } as const;
  const tls = {
    timeout: CONNECT_MS,
    ...(caBundle === undefined ? {} : { ca: withKnownAuthorities(caBundle) }),
  };
  return proxy === undefined
    ? new Agent({ ...limits, connect: tls })
    : proxyAgent(proxy, { ...limits, requestTls: tls });
}

/** Always a tunnel: plain forwarding (http only) would ignore the limits. */
function proxyAgent(uri: string, options: Omit<ProxyAgent.Options, 'uri'>): ProxyAgent {
  return new ProxyAgent({
    ...options,
    uri,
    proxyTunnel: true,
    connectTimeout: CONNECT_MS,
    // A proxy that accepts the connection but never answers CONNECT counts as unreachable.
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: CONNECT_MS }),
  });
}

/** The option `ca` replaces the well-known authorities, so the list has to include them. */
function withKnownAuthorities(caBundle: string): string[] {
  return [...rootCertificates, caBundle];
}
