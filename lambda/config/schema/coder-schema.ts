/**
 * The sections `coder` and `managedKeys`: how coderd is reached, and how its provisioner keys are
 * managed.
 */
import { isIPv4 } from 'node:net';
import * as z from 'zod';
import { secretRef } from './secret-ref.ts';

export const coder = z
  .strictObject({
    url: urlWith(coderUrlProblem)
      .meta({
        description: 'URL of coderd, without a path. It must be https, or http for loopback hosts only.',
        format: 'uri',
        pattern: '^https?://',
        examples: ['https://coder.example.com'],
      })
      .transform((text) => new URL(text).origin),
    token: secretRef(
      'Secret that holds the API token for reading jobs, daemons, workspaces and templates. Its user needs the role organization template admin in every organization named below.',
      'coder/autoscaler-token',
    ),
    caBundle: z
      .string()
      .regex(/\S/, 'is not a path')
      .meta({
        description:
          'PEM file with CA certificates for coderd, in addition to the public ones. The path is relative to this file. The function, the command line and tasks with a guard trust them.',
        examples: ['./corp-ca.pem'],
      })
      .optional(),
    proxy: urlWith(proxyUrlProblem)
      .meta({
        description:
          'URL of the HTTP proxy through which the function and the command line reach coderd. Set the proxy of the provisioners in `environment`.',
        format: 'uri',
        pattern: '^http://',
        examples: ['http://proxy.example.com:3128'],
        isPrivate: true,
      })
      .transform((text) => new URL(text).origin)
      .optional(),
  })
  .meta({
    description: 'How the autoscaler reaches coderd.',
    isReplayed: false,
    examples: [{ url: 'https://coder.example.com', token: { secret: 'coder/autoscaler-token' } }],
  });

/** AWS rotates a secret every 1 to 1000 days; a year is the longest that is any use for a key. */
const ROTATION_DAYS = { least: 1, most: 365 };

export const managedKeys = z
  .strictObject({
    token: secretRef(
      'Secret that holds the API token with which the key function creates, reads and deletes provisioner keys. Its user needs the role organization template admin in the organization of each pool with `key: managed`.',
      'coder/key-manager-token',
    ),
    rotateAfterDays: z
      .int()
      .min(ROTATION_DAYS.least)
      .max(ROTATION_DAYS.most)
      .default(30)
      .meta({ description: 'Days after which a managed key is replaced by a new one.' }),
  })
  .meta({
    description: 'How the stack manages the keys of pools with `key: managed`. Such a pool needs it.',
    isReplayed: false,
    examples: [{ token: { secret: 'coder/key-manager-token' } }],
  });

function urlWith(problemOf: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

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

/** As `coderUrlProblem`, for the proxy. It never quotes the URL, which may contain a password. */
function proxyUrlProblem(text: string): string | undefined {
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
