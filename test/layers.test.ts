/**
 * Checks that imports point one way, from the import notes in the README of each folder and the
 * imports of its files. `a/b/**` in a note stands for a folder and all folders below it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const ROOTS = ['lambda', 'simulator', 'backtest', 'verify', 'demo', 'cli', 'bench', 'infra', 'packaging'];
/** Packages that a folder may import. Other folders may import any package. */
const PACKAGES: readonly (readonly [folder: string, packages: RegExp])[] = [
  ['lambda/decision', /^$/],
  ['lambda/explain', /^zod$/],
  ['lambda/look', /^zod$/],
];
const MOST_FILES = 15;
const MOST_LINES = 10;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s+'([^']+)'|import\('([^']+)'\)|(?:^|\n)import '([^']+)'/g;

const files = ROOTS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);
const byFolder = Map.groupBy(files, dirname);
const folders = [...byFolder.keys()].sort();

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORT)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

/** The folders that the files of a folder import. */
function importedBy(folder: string): readonly string[] {
  const targets = (byFolder.get(folder) ?? []).flatMap((file) =>
    importsOf(file)
      .filter((imported) => imported.startsWith('.'))
      .map((imported) => dirname(relative(root, resolve(root, dirname(file), imported)))),
  );
  return [...new Set(targets)].filter((target) => target !== folder);
}

function noteOf(folder: string): string {
  const file = join(root, folder, 'README.md');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function isAllowed(folder: string, note: string): boolean {
  const may = /^May import: (.*)\.$/m.exec(note)?.[1] ?? '';
  return [...may.matchAll(/`([^`]+)`/g)].some(([, place = '']) => {
    const whole = place.replace(/\/\*\*$/, '');
    return folder === whole || (whole !== place && folder.startsWith(`${whole}/`));
  });
}

it('the folders contain imports to check', () => {
  expect(folders.length).toBeGreaterThan(50);
  expect(folders.flatMap(importedBy).length).toBeGreaterThan(100);
});

describe.each(folders)('%s', (folder) => {
  const note = noteOf(folder);

  it('has a short README', () => {
    expect(note.split('\n')[0]).toBe(`# ${folder}`);
    expect(note.trim().split('\n').length).toBeGreaterThan(2);
    expect(note.trim().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
  });

  it('imports only the folders of its README, and uses each of them', () => {
    const imported = importedBy(folder);
    expect(imported.filter((target) => !isAllowed(target, note))).toEqual([]);
    const named = [...(/^May import: (.*)\.$/m.exec(note)?.[1] ?? '').matchAll(/`([^`]+)`/g)];
    const unused = named.filter(
      ([, place = '']) => !imported.some((target) => isAllowed(target, `May import: \`${place}\`.`)),
    );
    expect(unused.map(([, place]) => place)).toEqual([]);
  });

  it(`has at most ${MOST_FILES} files`, () => {
    expect((byFolder.get(folder) ?? []).length).toBeLessThanOrEqual(MOST_FILES);
  });
});

it('no folders import each other in a circle', () => {
  const rounds = folders.flatMap((folder) => {
    const reached = new Set(importedBy(folder));
    for (const next of reached) for (const further of importedBy(next)) reached.add(further);
    return reached.has(folder) ? [folder] : [];
  });
  expect(rounds).toEqual([]);
});

describe('the decision', () => {
  const decision = files.filter((file) => file.startsWith('lambda/decision/'));

  it.each(decision)('%s uses no await, clock, environment or randomness', (file) => {
    const code = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect(code).not.toMatch(/\bawait\b|\basync\b|Date\.now|new Date\(\)|process\.|Math\.random|console\./);
  });
});

describe.each(PACKAGES)('%s', (folder, packages) => {
  it.each(files.filter((file) => file.startsWith(`${folder}/`)))(
    '%s imports only allowed packages',
    (file) => {
      const imported = importsOf(file).filter((name) => !name.startsWith('.'));
      expect(imported.filter((name) => !packages.test(name))).toEqual([]);
    },
  );
});

it('has no cycle of files, type imports included', () => {
  const importedFiles = (file: string): readonly string[] =>
    importsOf(file)
      .filter((imported) => imported.startsWith('.'))
      .map((imported) => relative(root, resolve(root, dirname(file), imported)));
  const graph = new Map(files.map((file) => [file, importedFiles(file)]));
  // Files without imports left are removed until only cycles and what imports them remain.
  for (let before = -1; before !== graph.size; ) {
    before = graph.size;
    for (const [file, imported] of graph)
      if (!imported.some((target) => target !== file && graph.has(target))) graph.delete(file);
  }
  expect([...graph.keys()]).toEqual([]);
});
