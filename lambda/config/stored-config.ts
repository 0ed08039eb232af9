/**
 * The configuration as one text, for a deployment that stores it outside the function: `autoscaler
 * synth` writes it into parameters of Systems Manager. The text is JSON in ASCII: the settings, and
 * the certificates that `coder.caBundle` names. It contains no secret, only names of secrets.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { checkConfig } from './check.ts';
import type { LoadedConfig } from './load.ts';
import { storedText } from './rules/stored-text.ts';

/** The stored text is not the text that the stack was deployed with. */
class StoredConfigError extends Error {
  override readonly name = 'StoredConfigError';
}

export type StoredConfig = {
  readonly text: string;
  /** SHA-256 of the text, in hex. */
  readonly sha256: string;
};

/** Makes the text of parsed settings. The same settings make the same text, with any comments. */
export function toStoredConfig(settings: unknown, caBundle: string | undefined): StoredConfig {
  const text = storedText(settings, caBundle);
  return { text, sha256: sha256Of(text) };
}

const storedSchema = z.object({ config: z.unknown(), caBundle: z.string().optional() });

/**
 * Reads a stored text. Throws StoredConfigError if the text has another hash: then it belongs to
 * another deployment, or a part of it does. Throws ConfigError for settings that cannot be used.
 */
export function readStoredConfig(text: string, sha256: string): LoadedConfig {
  const seen = sha256Of(text);
  if (seen !== sha256)
    throw new StoredConfigError(
      `checking the stored configuration: its SHA-256 is ${short(seen)}, and the function was deployed with ${short(sha256)}; wait until the deployment has ended. If it has ended, somebody changed a parameter: put back the values of the template (docs/construct.md)`,
    );
  const { config, caBundle } = storedSchema.parse(JSON.parse(text));
  const checked = checkConfig(config);
  return caBundle === undefined ? checked : { ...checked, caBundle };
}

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Enough to compare by eye. */
const short = (sha256: string): string => `${sha256.slice(0, 12)}…`;
