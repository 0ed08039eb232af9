/** Imports point inwards only (docs/architecture.md, "What may import what"), and the core is synchronous and pure. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What the files of a folder may import: other folders of the project, and packages. */
const RULES: readonly {
  readonly from: string;
  readonly may: readonly string[];
  readonly packages: RegExp;
}[] = [
  { from: 'lambda/decision', may: ['lambda/decision'], packages: /^$/ },
  { from: 'lambda/look', may: ['lambda/look', 'lambda/decision'], packages: /^zod$/ },
  {
    from: 'lambda/adapters',
    may: ['lambda/adapters', 'lambda/look/ports.ts', 'lambda/decision'],
    packages: /./,
  },
  { from: 'lambda', may: ['lambda'], packages: /./ },
  {
    from: 'lab',
    may: ['lab', 'lambda/decision', 'lambda/look', 'lambda/adapters'],
    packages: /./,
  },
  {
    from: 'infra',
    may: ['infra', 'lambda/decision', 'lambda/config', 'lambda/telemetry/metric-names.ts'],
    packages: /./,
  },
  { from: 'cli', may: ['cli', 'lambda', 'lab', 'infra/cost.ts'], packages: /./ },
];

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s+'([^']+)'|import\('([^']+)'\)|(?:^|\n)import '([^']+)'/g;

function importsOf(file: string): readonly string[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

function isAllowed(file: string, imported: string, rule: (typeof RULES)[number]): boolean {
  if (!imported.startsWith('.')) return rule.packages.test(imported);
  const target = relative(root, resolve(root, dirname(file), imported));
  return rule.may.some((place) => target === place || target.startsWith(`${place}/`));
}

describe.each(RULES)('$from', (rule) => {
  const files = filesBelow(rule.from);
  test('has files with imports to look at', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.flatMap(importsOf).length).toBeGreaterThan(0);
  });

  test.each(files)('%s imports inwards only', (file) => {
    expect(importsOf(file).filter((imported) => !isAllowed(file, imported, rule))).toEqual([]);
  });
});

describe('the core', () => {
  test.each(filesBelow('lambda/decision'))(
    '%s has no await, clock, environment or randomness in it',
    (file) => {
      const code = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      expect(code).not.toMatch(/\bawait\b|\basync\b|Date\.now|new Date\(\)|process\.|Math\.random|console\./);
    },
  );
});
