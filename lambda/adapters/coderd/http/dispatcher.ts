/**
 * The connections to one coderd: a pool of its own, straight or through a proxy, with time-outs.
 *
 * The proxy is the one of the configuration, `coder.proxy`. HTTPS_PROXY is not read: the function and the command line
 * are to take the same way, and in Lambda a variable would catch what reaches coderd without one.
 */
import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, Pool, ProxyAgent } from 'undici';

export type DispatcherOptions = {
  /** PEM, added to the well-known authorities. */
  readonly caBundle?: string | undefined;
  /** The URL of an HTTP proxy; it is only asked to connect, so TLS is between us and coderd. */
  readonly proxy?: string | undefined;
  /** How long coderd may say nothing. */
  readonly silentMs: number;
};

const CONNECT_MS = 3_000;
/** An answer of 10,000 jobs has some 10 MB. */
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

/** Always a tunnel: plain forwarding, which is for http only, would know none of the limits. */
function proxyAgent(uri: string, options: Omit<ProxyAgent.Options, 'uri'>): ProxyAgent {
  return new ProxyAgent({
    ...options,
    uri,
    proxyTunnel: true,
    connectTimeout: CONNECT_MS,
    // a proxy that takes the connection and never answers CONNECT is to be given up as one that can't be reached
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: CONNECT_MS }),
  });
}

/** A `ca` option replaces the well-known authorities, so they are given too. */
function withKnownAuthorities(caBundle: string): string[] {
  return [...rootCertificates, caBundle];
}
