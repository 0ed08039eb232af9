/** Checks that imports point one way: layers.yaml says what the files of each folder may import. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const ROOTS = ['lambda', 'cli', 'infra', 'packaging', 'lab'];
/** Packages that a folder may import. Other folders may import any package. */
const PACKAGES: readonly (readonly [folder: string, packages: RegExp])[] = [
  ['lambda/decision', /^$/],
  ['lambda/explain', /^zod$/],
  ['lambda/look', /^zod$/],
];
const MOST_FILES = 15;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s+'([^']+)'|import\('([^']+)'\)|(?:^|\n)import '([^']+)'/g;

const files = ROOTS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules') && !/^test\//.test(name))
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

const rules: Readonly<Record<string, string>> = parse(
  readFileSync(new URL('layers.yaml', import.meta.url), 'utf8'),
);
const mayImport = (folder: string): readonly string[] => rules[folder]?.match(/\S+/g) ?? [];

/** Whether an entry of a list allows an import of the folder. */
function isMeant(folder: string, entry: string): boolean {
  const whole = entry.replace(/\/\*\*$/, '');
  return folder === whole || (whole !== entry && folder.startsWith(`${whole}/`));
}

it('the folders contain imports to check', () => {
  expect(folders.length).toBeGreaterThan(50);
  expect(folders.flatMap(importedBy).length).toBeGreaterThan(100);
});

it('layers.yaml lists each folder, and no other', () => {
  expect(Object.keys(rules).sort()).toEqual(folders);
});

describe.each(folders)('%s', (folder) => {
  it('imports only the folders of its list, and uses each of them', () => {
    const imported = importedBy(folder);
    const listed = mayImport(folder);
    expect(imported.filter((target) => !listed.some((entry) => isMeant(target, entry)))).toEqual([]);
    expect(listed.filter((entry) => !imported.some((target) => isMeant(target, entry)))).toEqual([]);
  });

  it(`has at most ${MOST_FILES} files`, () => {
    expect((byFolder.get(folder) ?? []).length).toBeLessThanOrEqual(MOST_FILES);
  });
});

it('the product imports the laboratory through one door', () => {
  const doors = files
    .filter((file) => !file.startsWith('lab/') && !file.startsWith('packaging/'))
    .flatMap((file) =>
      importsOf(file)
        .filter((imported) => imported.includes('/lab/'))
        .map(() => file),
    );
  expect(doors).toEqual(['cli/program.ts']);
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
