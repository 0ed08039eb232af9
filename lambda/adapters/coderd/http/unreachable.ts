/** Derives a message from the error of a request without an answer, with advice for common causes. */

/**
 * Describes why coderd did not answer. `proxy` is the URL of the proxy of the request, if any. `isAnswering`: an answer
 * had begun, so the way to coderd is open.
 */
export function describeUnreachable(cause: unknown, proxy: string | undefined, isAnswering = false): string {
  const reason = reasonOf(cause);
  if (isAnswering && TOO_SLOW.test(reason))
    return `coderd began to answer, but its answer did not end in time (${reason}); check the load of coderd and of its database, and of a proxy in front of it`;
  const way = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  return `no answer from coderd${way} (${reason}); ${adviceFor(reason, proxy)}`;
}

/** The message of the innermost cause of an undici or Node error. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  if (!(cause instanceof Error)) return String(cause);
  if (cause.cause instanceof Error) return reasonOf(cause.cause);
  const said = (cause.message || cause.name).replaceAll(/\s+/g, ' ').slice(0, 200);
  // Node's own advice does not apply to a Lambda function.
  return said.replace(/; if the root CA is installed locally.*/, '');
}

const TOO_SLOW = /timeout|timed out|aborted/i;

type Advice = readonly (readonly [RegExp, string])[];

/** A CA bundle cannot fix these, so they come before the general advice about certificates. */
const FLAWED_CERTIFICATE: Advice = [
  [/altnames/, 'its certificate is for another name; check the host in coder.url, or renew the certificate'],
  [
    /certificate has expired|not yet valid/,
    "its certificate has expired or is not valid yet; renew it, and check the host's clock",
  ],
];

const TO_CODERD: Advice = [
  [
    /self.signed|unable to (?:get|verify)|certificate|issuer/i,
    'if your own CA signed its certificate, add that CA to coder.caBundle',
  ],
  [/wrong version number|packet length|EPROTO/i, 'this port does not use TLS; check coder.url'],
  [
    /other side closed|terminated|socket hang up|ECONNRESET|EPIPE/,
    'coderd or a proxy closed the connection before the answer was complete; check their logs',
  ],
];

const DIRECT: Advice = [
  [/ENOTFOUND|EAI_AGAIN/, 'DNS does not know this name here; check the host in coder.url'],
  [/ECONNREFUSED/, 'nothing listens there; check the host and port in coder.url'],
  [
    /timeout|timed out|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/i,
    'check routes, security groups and firewalls; if coderd is reachable only through a proxy, set coder.proxy',
  ],
];

/** Errors before the tunnel is open: on the way to the proxy, or from the proxy to coderd. */
const THROUGH_PROXY: Advice = [
  [
    /\(407\)/,
    'the proxy requires a user name and a password, which the autoscaler does not send; allow requests to coderd without them',
  ],
  [/\(403\)/, "the proxy forbids it; allow coder.url's host and port there"],
  [/Proxy response/, 'the proxy cannot reach coderd; check coder.url, and DNS and routes of the proxy'],
  [/ENOTFOUND|EAI_AGAIN/, "DNS does not know the proxy's name here; check coder.proxy"],
  [/ECONNREFUSED/, 'no proxy listens there; check the host and port in coder.proxy'],
  [
    /certificate|self.signed|issuer/i,
    'a proxy that intercepts TLS signs with its own CA; add that CA to coder.caBundle',
  ],
];

function adviceFor(reason: string, proxy: string | undefined): string {
  const general = proxy === undefined ? [...TO_CODERD, ...DIRECT] : [...THROUGH_PROXY, ...TO_CODERD];
  const advice = [...FLAWED_CERTIFICATE, ...general];
  const way = proxy === undefined ? 'coder.url' : 'coder.proxy, coder.url';
  return advice.find(([pattern]) => pattern.test(reason))?.[1] ?? `check ${way} and the network`;
}
