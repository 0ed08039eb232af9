/** Lock files and archives of templates. */
import { pack } from 'tar-stream';
import type { ProviderLock } from '../../../cli/image/lock-file.ts';

export type Entry = {
  readonly name: string;
  readonly text?: string;
  readonly type?: 'file' | 'symlink' | 'link' | 'directory';
  readonly linkname?: string;
  readonly pax?: Record<string, string>;
};

export async function tarOf(...entries: readonly Entry[]): Promise<Uint8Array> {
  const archive = pack();
  for (const { text, ...header } of entries) archive.entry(header, text ?? '');
  archive.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive) chunks.push(chunk as Uint8Array);
  return new Uint8Array(Buffer.concat(chunks));
}

/** The text that "terraform init" writes. */
export function lockText(...locks: readonly ProviderLock[]): string {
  const hashesText = (hashes: readonly string[]): string =>
    hashes.length === 0 ? '' : `  hashes = [\n${hashes.map((hash) => `    "${hash}",\n`).join('')}  ]\n`;
  const blocks = locks.map(
    ({ address, version, hashes }) => `
provider "${address}" {
  version     = "${version}"
  constraints = ">= 1.0.0"
${hashesText(hashes)}}
`,
  );
  return `# This file is maintained automatically by "terraform init".\n# Manual edits may be lost in future updates.\n${blocks.join('')}`;
}

/** A checksum of that kind, all of one digit. */
export const h1 = (digit: string): string => `h1:${digit.repeat(43)}=`;
export const zh = (digit: string): string => `zh:${digit.repeat(64)}`;

export const LOCK_FILE = '.terraform.lock.hcl';
export const MAIN: Entry = { name: 'main.tf', text: '# a template\n' };
