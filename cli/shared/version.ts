import { readFileSync } from 'node:fs';

/** The version in the package.json of this checkout, or of the published package. */
export function versionOfPackage(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}
