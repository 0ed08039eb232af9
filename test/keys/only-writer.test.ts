/** The key function is the only code that writes to coderd. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const IMPORT = /(?:from|import\()\s*'(\.[^']+)'/g;
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** All files that this one imports, directly or not. */
function reachedFrom(file: string): ReadonlySet<string> {
  const reached = new Set([file]);
  for (const each of reached)
    for (const [, imported = ''] of textOf(each).matchAll(IMPORT))
      reached.add(relative(root, resolve(root, dirname(each), imported)));
  return reached;
}

it('is not reached by any import of the autoscaler function', () => {
  const reached = reachedFrom('lambda/handler.ts');
  expect(reached.size).toBeGreaterThan(50);
  expect([...reached].filter((file) => file.startsWith('lambda/keys/'))).toEqual([]);
  expect(reachedFrom('lambda/keys/handler.ts')).toContain('lambda/keys/adapters/coderd-keys.ts');
});

it('alone sends requests that change coderd', () => {
  const writes = /'DELETE'|method: 'POST'/;
  const files = readdirSync(join(root, 'lambda'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('lambda', name));
  expect(files.filter((file) => writes.test(textOf(file))).sort()).toEqual([
    // The client: the type of a method, and `post`, which asks coderd a question.
    'lambda/adapters/coderd/http/http.ts',
    'lambda/keys/adapters/coderd-keys.ts',
  ]);
  const posted = files.flatMap((file) =>
    [...textOf(file).matchAll(/\.post\(\s*([^,]+),/g)].map(([, path]) => path),
  );
  expect(new Set(posted)).toEqual(new Set(["'/api/v2/authcheck'"]));
});
