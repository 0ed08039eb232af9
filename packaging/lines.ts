/**
 * `npm run lines`: how many lines each room has, and whether the budgets hold. `--all` prints every tracked text
 * file with its class. Exit code 1 above a budget.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

type Class = 'product' | 'lab' | 'tests' | 'data' | 'tools' | 'docs';

/** Lines, and words of documents. */
const BUDGETS: Readonly<Record<Class, number>> = {
  product: 39_500,
  lab: 30_000,
  tests: 53_000,
  data: 8_000,
  tools: 700,
  docs: 42_000,
};

/** Generated or recorded. Not counted at all: locks of npm, recorded answers of coderd (one line each step), pictures. */
const DATA =
  /\.snap$|\/golden\/|^examples\/plan\/snapshot\.json$|^autoscaler\.schema\.json$|\/tag-matching\.json$/;
const UNCOUNTED = /(?:^|\/)package-lock\.json$|\/recorded\/|\.(?:png|svg|webp)$|^LICENSE$/;

/** What checks, formats and releases the project: nobody deploys or types it. */
const TOOLS =
  /^\.|^(?:biome|tsconfig|stryker\.config|package|cdk)\.json$|^vitest\.config\.ts$|^lab\/package\.json$/;

/** By the first pattern that fits. */
const CLASSES: readonly (readonly [pattern: RegExp, of: Class])[] = [
  [DATA, 'data'],
  [/\.md$/, 'docs'],
  [/^(?:test|lab\/test)\//, 'tests'],
  [TOOLS, 'tools'],
  [/^lab\//, 'lab'],
  [/./, 'product'],
];

type CountedFile = { readonly path: string; readonly of: Class; readonly count: number };

function countedFiles(): readonly CountedFile[] {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  return tracked
    .filter((path) => path !== '' && !UNCOUNTED.test(path))
    .map((path) => {
      const of = CLASSES.find(([pattern]) => pattern.test(path))?.[1] ?? 'product';
      const text = readFileSync(`${root}/${path}`, 'utf8');
      return { path, of, count: of === 'docs' ? text.split(/\s+/).length - 1 : text.split('\n').length - 1 };
    });
}

function totals(files: readonly CountedFile[]): ReadonlyMap<Class, number> {
  return new Map(
    Object.keys(BUDGETS).map((of) => [
      of as Class,
      files.reduce((sum, each) => sum + (each.of === of ? each.count : 0), 0),
    ]),
  );
}

/** Such as `lambda/decision`: one folder deep, two in `lambda/` and `lab/`. */
const roomOf = (path: string): string =>
  path
    .split('/')
    .slice(0, /^(?:lambda|lab)\//.test(path) ? 2 : 1)
    .join('/');

function report(files: readonly CountedFile[], sums: ReadonlyMap<Class, number>): string {
  const rooms = Map.groupBy(
    files,
    ({ path, of }) => `${of.padEnd(8)} ${path.includes('/') ? roomOf(path) : '(top level)'}`,
  );
  const lines = [...rooms]
    .map(([room, all]) => [room, all.reduce((sum, { count }) => sum + count, 0)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([room, count]) => `${String(count).padStart(7)}  ${room}`);
  const totalLines = [...sums].map(
    ([of, count]) =>
      `${String(count).padStart(7)}  ${of}, ${of === 'docs' ? 'words' : 'lines'} of at most ${BUDGETS[of]}`,
  );
  return [...lines, '', ...totalLines, ''].join('\n');
}

const files = countedFiles();
if (process.argv.includes('--all'))
  for (const { path, of, count } of files)
    process.stdout.write(`${String(count).padStart(6)}  ${of.padEnd(8)} ${path}\n`);
const sums = totals(files);
process.stdout.write(report(files, sums));
process.exitCode = [...sums].some(([of, count]) => count > BUDGETS[of]) ? 1 : 0;
