import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ownValue } from '../decision/model/collections.ts';
import { ConfigError, error, type Mistake, type Problem } from './problems/problems.ts';
import { readConfig } from './read.ts';
import type { Deployment } from './rules/deployment.ts';
import { checkPoolCount } from './rules/deployment-rules.ts';
import { checkResources, checkSizes } from './rules/size-rules.ts';
import { decodeUtf8 } from './utf8.ts';

/** A configuration and the certificates that it names. */
export type LoadedConfig = {
  readonly config: Deployment;
  readonly warnings: readonly Problem[];
  /** PEM text of `coder.caBundle`. */
  readonly caBundle?: string;
};

/** Reads a configuration file and its CA bundle. Throws a ConfigError with every problem. */
export function loadConfig(
  file: string,
  more: (value: unknown, caBundle: string | undefined) => Iterable<Mistake> = () => [],
): LoadedConfig {
  let caBundle: string | undefined;
  const read = readConfig(readText(file), file, (value) => {
    const tooMany = [...checkPoolCount(value)];
    if (tooMany.length > 0) return tooMany;
    const bundle = readCaBundle(value, dirname(file));
    caBundle = bundle.text;
    return [...bundle.findings, ...more(value, caBundle)];
  });
  return caBundle === undefined ? read : { ...read, caBundle };
}

/** As `loadConfig`, for a stack of this file alone: AWS limits task definitions and templates. */
export function loadDeployment(file: string): LoadedConfig {
  return loadConfig(file, (value, caBundle) => [
    ...checkSizes(value, caBundle),
    ...checkResources(value, caBundle),
  ]);
}

function readText(file: string): string {
  const unreadable = (why: string, cause?: unknown): ConfigError => {
    const message = `reading the configuration: ${why}`;
    return new ConfigError([{ severity: 'error', path: '', message, file }], { cause });
  };
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw unreadable(isMissing ? MISSING : describeReadError(cause), cause);
  }
  if (bytes.length > MOST_BYTES) throw unreadable(TOO_LONG);
  const decoded = decodeUtf8(bytes);
  if ('problem' in decoded) throw unreadable(decoded.problem);
  return decoded.text;
}

const MISSING = 'no such file; write one with autoscaler setup --draft, or name another file with --config';

/** More than the pools of a stack need. To parse a longer file could take minutes. */
const MOST_BYTES = 1_048_576;
const TOO_LONG =
  'the file is longer than 1 MiB; name the configuration file with --config, or remove what is no setting';

type Bundle = { readonly text?: string; readonly findings: readonly Mistake[] };

function readCaBundle(value: unknown, folder: string): Bundle {
  const name = caBundleOf(value);
  if (name === undefined) return { findings: [] };
  const refuse = (why: string): Bundle => ({
    findings: [error(['coder', 'caBundle'], `reading the CA bundle: ${why}`)],
  });
  try {
    const text = readFileSync(resolve(folder, name), 'utf8');
    const flaw = bundleFlaw(text);
    return flaw === undefined ? { text, findings: [] } : refuse(flaw);
  } catch (cause) {
    return refuse(`${describeReadError(cause)} (the path is relative to the configuration file)`);
  }
}

/** The value may be of any shape: its other mistakes are reported beside this one. */
function caBundleOf(value: unknown): string | undefined {
  const coder = (value as { coder?: { caBundle?: unknown } | null } | null | undefined)?.coder;
  const name = coder?.caBundle;
  return typeof name === 'string' && name.trim() !== '' ? name : undefined;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

function bundleFlaw(text: string): string | undefined {
  if (text.includes('PRIVATE KEY-----'))
    return 'the file contains a private key; keep only certificates in it';
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0)
    return 'the file has no PEM certificate ("-----BEGIN CERTIFICATE-----"); convert DER with openssl x509 -inform der';
  const broken = certificates.findIndex((pem) => !isCertificate(pem));
  return broken < 0
    ? undefined
    : `certificate ${broken + 1} of ${certificates.length} cannot be read; export it again`;
}

function isCertificate(pem: string): boolean {
  // loaded here, because most configurations have no bundle and it takes a while to load
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** Why a file cannot be read, and what to do. */
export function describeReadError(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'no such file; check the path',
    EISDIR: 'the path is a folder; write the path of a file',
    EACCES: 'no permission to read it',
  };
  return ownValue(known, code) ?? `it cannot be read (${code})`;
}
