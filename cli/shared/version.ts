import { existsSync, readFileSync } from 'node:fs';

/** The version of the package that this file belongs to, wherever the package has this file. */
export const VERSION = versionAbove(new URL('.', import.meta.url));

function versionAbove(folder: URL): string {
  const manifest = new URL('package.json', folder);
  const above = new URL('..', folder);
  if (!existsSync(manifest)) return above.href === folder.href ? 'unknown' : versionAbove(above);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: string };
  return version ?? 'unknown';
}
