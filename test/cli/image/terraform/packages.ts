/** Provider packages and their checksums, as a registry and Terraform make them. */
import { createHash } from 'node:crypto';
import { strToU8, unzipSync, type Zippable, zipSync } from 'fflate';

const EXECUTABLE = 0o755 << 16;

/** The zip file of a provider. `content`: differs between platforms and versions. */
export function providerZip(type: string, version: string, content: string): Uint8Array {
  const attributes = { os: 3, attrs: EXECUTABLE, mtime: '2024-01-01T00:00:00Z' } as const;
  const files: Zippable = {
    'LICENSE.txt': [strToU8('free'), attributes],
    [`terraform-provider-${type}_v${version}`]: [strToU8(content), attributes],
  };
  return zipSync(files);
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Terraform's checksum of the zip file. */
export const zipHash = (zip: Uint8Array): string => `zh:${sha256(zip)}`;

/** Terraform's checksum of the content: that of the sorted list of the files and their checksums. */
export function contentHash(files: Readonly<Record<string, Uint8Array>>): string {
  const names = Object.keys(files).sort();
  const list = names.map((name) => `${sha256(files[name] ?? new Uint8Array())}  ${name}\n`).join('');
  return `h1:${createHash('sha256').update(list).digest('base64')}`;
}

export const contentHashOfZip = (zip: Uint8Array): string => contentHash(unzipSync(zip));
