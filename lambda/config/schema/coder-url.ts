import { isIPv4 } from 'node:net';

const CREDENTIALS = 'contains a user name or password; remove them';
const QUERY = 'contains a query or fragment; remove it';

/** Why coderd's URL is wrong, as the end of a sentence about it; undefined if it is right. */
export function coderUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\//i.test(text)) return notAbsolute(text);
  if (hasCredentials(url)) return CREDENTIALS;
  if (hasQuery(url)) return QUERY;
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return `is plain http, which would send the API token unencrypted; write https://${url.host} (http is allowed for loopback hosts only)`;
  }
  if (url.pathname !== '/') return `contains a path; write ${url.origin}`;
  return undefined;
}

/**
 * As `coderUrlProblem`, for the proxy. It never quotes the URL, which may contain a password.
 */
export function proxyUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^http:\/\//i.test(text))
    return 'is not an http URL; write one such as http://proxy.example.com:3128 (TLS to coderd still encrypts the traffic)';
  if (hasCredentials(url)) return CREDENTIALS;
  if (hasQuery(url)) return QUERY;
  if (url.pathname !== '/') return 'contains a path; end the URL after host and port';
  return undefined;
}

const hasCredentials = ({ username, password }: URL) => username !== '' || password !== '';

const hasQuery = ({ search, hash }: URL) => search !== '' || hash !== '';

function notAbsolute(text: string): string {
  const isHost = /^[a-z0-9.-]+\.[a-z0-9-]+(:\d+)?\/?$/i.test(text);
  return `is not an absolute http or https URL; write ${isHost ? `https://${text}` : 'one such as https://coder.example.com'}`;
}

/**
 * Whether a host is this machine. `URL` writes every IPv4 address in full, and IPv6 addresses in
 * brackets.
 */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
