/** Why there is no answer, and what to do about the failures that people meet most. */

/** One sentence about a request that got no answer. `proxy`: the one it went through. */
export function describeUnreachable(cause: unknown, proxy: string | undefined): string {
  const reason = reasonOf(cause);
  const way = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  return `no answer from coderd${way} (${reason}); ${adviceFor(reason, proxy)}`;
}

/** The codes and messages at the bottom of an undici or Node error. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  if (!(cause instanceof Error)) return String(cause);
  if (cause.cause instanceof Error) return reasonOf(cause.cause);
  const said = (cause.message || cause.name).replaceAll(/\s+/g, ' ').slice(0, 200);
  // Node's own advice is none for a function
  return said.replace(/; if the root CA is installed locally.*/, '');
}

type Advice = readonly (readonly [RegExp, string])[];

/** Flaws of a certificate that no CA bundle mends; so they come before all that is said about certificates. */
const FLAWED_CERTIFICATE: Advice = [
  [/altnames/, 'its certificate is for another name; check the host in coder.url, or renew the certificate'],
  [
    /certificate has expired|not yet valid/,
    "its certificate is outside its dates; renew it, and check the host's clock",
  ],
];

const TO_CODERD: Advice = [
  [
    /self.signed|unable to (?:get|verify)|certificate|issuer/i,
    'if its certificate is signed by a CA of your own, name it in coder.caBundle',
  ],
  [/wrong version number|packet length|EPROTO/i, 'it speaks no TLS on this port; check coder.url'],
  [
    /other side closed|terminated|socket hang up|ECONNRESET|EPIPE/,
    'coderd, or a proxy before it, closed the connection before its answer was complete; see their logs',
  ],
];

const DIRECT: Advice = [
  [/ENOTFOUND|EAI_AGAIN/, 'DNS does not know this name here; check the host in coder.url'],
  [/ECONNREFUSED/, 'nothing listens there; check the host and port in coder.url'],
  [
    /timeout|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/i,
    'routes, security groups or a firewall may be in the way; if only a proxy leads there, name it in coder.proxy',
  ],
];

/** Until the tunnel stands, all that fails is between us and the proxy, or between the proxy and coderd. */
const THROUGH_PROXY: Advice = [
  [
    /\(407\)/,
    'the proxy asks for a user name and a password, which are not sent; let requests to coderd pass without',
  ],
  [/\(403\)/, "the proxy forbids it; allow coder.url's host and port there"],
  [/Proxy response/, 'the proxy cannot reach coderd; check coder.url, and DNS and routes of the proxy'],
  [/ENOTFOUND|EAI_AGAIN/, "DNS does not know the proxy's name here; check coder.proxy"],
  [/ECONNREFUSED/, 'no proxy listens there; check the host and port in coder.proxy'],
  [
    /certificate|self.signed|issuer/i,
    'a proxy that opens TLS signs with a CA of its own: name that in coder.caBundle',
  ],
];

function adviceFor(reason: string, proxy: string | undefined): string {
  const general = proxy === undefined ? [...TO_CODERD, ...DIRECT] : [...THROUGH_PROXY, ...TO_CODERD];
  const advice = [...FLAWED_CERTIFICATE, ...general];
  const way = proxy === undefined ? 'coder.url' : 'coder.proxy, coder.url';
  return advice.find(([pattern]) => pattern.test(reason))?.[1] ?? `check ${way} and the network`;
}
