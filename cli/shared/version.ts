import { readFileSync } from 'node:fs';

/** The package.json of this checkout, or of the published package. */
export function packageManifest(): { readonly version: string } {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
}
