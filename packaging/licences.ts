/** Collects the licences of the packages whose code is bundled into generated files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PackagingError } from './packaging-error.ts';

const NODE_MODULES = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const LICENCE_FILE = /^(?:licen[cs]e|notice|copying)\b/i;

/** One text with the licences of all packages among `inputs`, paths relative to `projectDir`. */
export function licencesOf(inputs: readonly string[], projectDir: string): string {
  const folders = new Set(inputs.flatMap((input) => NODE_MODULES.exec(input)?.[0] ?? []));
  return [...folders]
    .sort()
    .map((folder) => licenceOf(join(projectDir, folder)))
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  if (files.length === 0 && license === undefined)
    throw new PackagingError(
      `collecting licences: ${name} ${version} names no licence; do not bundle it before you know its licence`,
    );
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${[`${name} ${version} (${license})`, ...texts].join('\n\n')}\n`;
}
