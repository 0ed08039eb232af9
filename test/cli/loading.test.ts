/** The modules that a command loads before it does anything. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Matches no `import type`, which loads nothing, and no `import()`, which loads later. */
const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?!type )[^;'"]*?from\s+'(\.[^']+)'/g;

function loadedBy(...files: readonly string[]): ReadonlySet<string> {
  const loaded = new Set(files.map((file) => join(root, file)));
  for (const file of loaded)
    for (const [, imported = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const target = normalize(join(dirname(file), imported));
      if (existsSync(target)) loaded.add(target);
    }
  return new Set([...loaded].map((file) => relative(root, file)));
}

const PACKAGE = /(?:^|\n)\s*import\s(?!type )[^;'"]*?from\s+'((?:@[\w-]+\/)?[\w-]+)/g;

/** The packages that these files import, without Node's own modules. */
function packagesOf(files: ReadonlySet<string>): readonly string[] {
  const names = [...files].flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(PACKAGE)].map(([, name = '']) => name),
  );
  return [...new Set(names)].filter((name) => name !== 'node').sort();
}

it('loads nothing of the laboratory for `autoscaler validate`', () => {
  const loaded = loadedBy('cli/main.ts', 'cli/validate.ts');
  expect(loaded.size).toBeGreaterThan(30);
  expect([...loaded].filter((file) => file.startsWith('lab/'))).toEqual([]);
});

it('loads no client of coderd or AWS for `autoscaler validate`', () => {
  const loaded = loadedBy('cli/autoscaler.mjs', 'cli/main.ts', 'cli/validate.ts');
  expect([...loaded].filter((file) => /^lambda\/(?:connect|adapters|look)/.test(file))).toEqual([]);
  expect(packagesOf(loaded)).toEqual(['cli-table3', 'commander', 'fastest-levenshtein', 'yaml', 'zod']);
});

it('loads the simulator for `autoscaler backtest`', () => {
  const loaded = loadedBy('cli/main.ts', 'lab/what-if/cli/backtest/command.ts');
  expect(loaded).toContain('lab/world/world.ts');
});
