import { isIPv4 } from 'node:net';

/** What is wrong with coderd's URL, as the end of a sentence about it; undefined if nothing is. */
export function coderUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\//i.test(text)) return notAbsolute(text);
  if (url.username !== '' || url.password !== '') return 'has a user name or password in it; leave them out';
  if (url.search !== '' || url.hash !== '') return 'has a query or fragment; leave it out';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return `is plain http, which sends the token in clear; write https://${url.host} (http is for loopback hosts only)`;
  }
  if (url.pathname !== '/') return `has a path; coderd's URL has none, write ${url.origin}`;
  return undefined;
}

function notAbsolute(text: string): string {
  const isHost = /^[a-z0-9.-]+\.[a-z0-9-]+(:\d+)?\/?$/i.test(text);
  return `is not an absolute http or https URL; write ${isHost ? `https://${text}` : 'one such as https://coder.example.com'}`;
}

/** The ways to write this machine; WHATWG URLs spell every IPv4 address in full and IPv6 in brackets. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
