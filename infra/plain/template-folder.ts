/** The folder that `autoscaler synth` writes: `template.json` and `assets/`. */
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { TemplateAsset } from '../constructs/plain/plain-synthesizer.ts';
import { PlainTemplateError } from '../constructs/plain/plain-template-error.ts';
import { zipFolder } from './zip-folder.ts';

export type WrittenFile = { readonly file: string; readonly bytes: number };

const TEMPLATE = 'template.json';
const ASSETS = 'assets';
/** Assets are named by a hash of their content. */
const ASSET = /^[0-9a-f]{64}\.[A-Za-z0-9]+$/;
/** CloudFormation accepts a template of 1 MB. A small one is easier to read with line breaks. */
const MOST_INDENTED_BYTES = 900_000;

/** Refuses a folder that has other files than those of an earlier run. Changes nothing. */
export function checkFolder(outDir: string): void {
  if (outDir === '') throw new PlainTemplateError('writing a template: the name of the folder is empty');
  const names = namesIn(outDir).filter((name) => name !== TEMPLATE && name !== ASSETS);
  const assets = namesIn(join(outDir, ASSETS)).filter((name) => !ASSET.test(name));
  const [first, ...others] = [...names, ...assets.map((name) => join(ASSETS, name))];
  if (first === undefined) return;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  throw new PlainTemplateError(
    `writing to ${outDir}: the folder has other files (${first}${more}); give an empty folder, or one that an earlier run wrote`,
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : cause;
    if (code === 'ENOENT') return [];
    const why = code === 'ENOTDIR' ? 'it is a file' : `it cannot be read (${String(code)})`;
    throw new PlainTemplateError(`writing to ${folder}: ${why}; give another folder`, { cause });
  }
}

/** Makes the folder, and removes the assets of an earlier run. */
export function clearFolder(outDir: string): void {
  const assets = join(outDir, ASSETS);
  try {
    mkdirSync(assets, { recursive: true });
    for (const name of readdirSync(assets)) rmSync(join(assets, name));
  } catch (cause) {
    const said = messageOf(cause);
    throw new PlainTemplateError(`writing to ${outDir}: ${said}; give another folder`, { cause });
  }
}

/** Writes an asset of the app in `work`, as the file to upload. */
export function writeAsset(
  outDir: string,
  work: string,
  { key, source, isFolder }: TemplateAsset,
): WrittenFile {
  const file = join(outDir, ASSETS, key);
  if (isFolder) writeFileSync(file, zipFolder(join(work, source)));
  else copyFileSync(join(work, source), file);
  return { file, bytes: statSync(file).size };
}

/** Writes the template. */
export function writeJson(outDir: string, template: unknown): WrittenFile {
  const indented = JSON.stringify(template, undefined, 1);
  const text = Buffer.byteLength(indented) > MOST_INDENTED_BYTES ? JSON.stringify(template) : indented;
  const file = join(outDir, TEMPLATE);
  writeFileSync(file, `${text}\n`);
  return { file, bytes: Buffer.byteLength(text) + 1 };
}
