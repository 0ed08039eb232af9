/**
 * How many lines each room has, of the files of one version: what ships, the laboratory, tests, recordings, and
 * what formats and releases the project. Documents are counted in words.
 */
import { matchesGlob, posix } from 'node:path';

/** The texts of a version by path, relative to the project. */
export type Texts = ReadonlyMap<string, string>;

const CLASSES = ['product', 'lab', 'tests', 'data', 'tools', 'docs'] as const;
type Class = (typeof CLASSES)[number];

export type CountedFile = {
  readonly path: string;
  readonly of: Class;
  /** Words of a document, lines of all others. */
  readonly count: number;
};

/** Locks of npm, recorded answers of coderd (one line each step), pictures. */
const UNCOUNTED = /(?:^|\/)package-lock\.json$|\/recorded\/|\.(?:png|svg|webp)$|^LICENSE$/;

export const isCounted = (path: string): boolean => !UNCOUNTED.test(path);

/** Generated or recorded. */
const DATA =
  /\.snap$|\/golden\/|^examples\/plan\/snapshot\.json$|^autoscaler\.schema\.json$|\/tag-matching\.json$/;

/** The folders of the laboratory, now and in 0.2. */
const LAB = /^(?:lab|simulator|verify|backtest|bench|demo)\//;

export function countFiles(texts: Texts): readonly CountedFile[] {
  const shipped = shippedFiles(texts);
  const classOf = (path: string): Class => {
    if (DATA.test(path)) return 'data';
    if (path.endsWith('.md')) return 'docs';
    if (/^(?:test|lab\/test)\//.test(path)) return 'tests';
    if (shipped.has(path)) return 'product';
    return LAB.test(path) ? 'lab' : 'tools';
  };
  return [...texts].map(([path, text]) => {
    const of = classOf(path);
    return { path, of, count: text.split(of === 'docs' ? /\s+/ : '\n').length - 1 };
  });
}

const DEFINITIONS = 'packaging/definitions.ts';
const HANDLERS = 'infra/constructs/handler-files.ts';
const ENTRY = /\b(?:entries|copied): \[([^\]]*)\]/g;
const HANDLER = /'(lambda\/[^']*handler\.ts)'/g;
const TEXT = /'([^']+)'/g;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;

/**
 * What the function, the construct and the command bring: the modules that they import, and what the packages
 * copy, by the version's own list (definitions.ts).
 */
export function shippedFiles(texts: Texts): ReadonlySet<string> {
  const definitions = (texts.get(DEFINITIONS) ?? '').replaceAll(COMMENT, '');
  const named = all(ENTRY, definitions).flatMap((list) => all(TEXT, list));
  const patterns = [...named, ...all(HANDLER, texts.get(HANDLERS) ?? '')];
  const isNamed = (path: string): boolean =>
    patterns.some((pattern) => matchesGlob(path, pattern) || path.startsWith(`${pattern}/`));
  const shipped = new Set([...texts.keys()].filter(isNamed));
  for (const path of shipped)
    for (const imported of importsOf(path, texts.get(path) ?? ''))
      if (texts.has(imported)) shipped.add(imported);
  return shipped;
}

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** Paths of the project's modules that a module imports, types included. */
function importsOf(path: string, text: string): readonly string[] {
  return all(IMPORT, text).map((imported) => posix.join(posix.dirname(path), imported));
}

const all = (pattern: RegExp, text: string): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

/** Such as `lambda/decision`: one folder deep, two in `lambda/` and `lab/`. */
function roomOf(path: string): string {
  const folders = path.split('/').slice(0, -1);
  return folders.slice(0, /^(?:lambda|lab)\//.test(path) ? 2 : 1).join('/') || '(top level)';
}

export type Release = { readonly version: string; readonly files: readonly CountedFile[] };

/** A row for each class, and one for each of its rooms. Without a release it has only the counts of now. */
export function ledgerText(now: readonly CountedFile[], release?: Release): string {
  const row = (name: string, isMeant: (file: CountedFile) => boolean): string => {
    const count = sumOf(now.filter(isMeant));
    if (release === undefined) return lineOf([count], name);
    const before = sumOf(release.files.filter(isMeant));
    return lineOf([count, before, signed(count - before)], name);
  };
  const classRows = CLASSES.flatMap((of) => {
    const isOf = (file: CountedFile): boolean => file.of === of;
    const rooms = new Set([...now, ...(release?.files ?? [])].filter(isOf).map(({ path }) => roomOf(path)));
    return [
      row(of === 'docs' ? 'docs, in words' : of, isOf),
      ...[...rooms]
        .sort()
        .map((room) => row(`  ${room}`, (file) => isOf(file) && roomOf(file.path) === room)),
    ];
  });
  return [
    lineOf(release === undefined ? ['now'] : ['now', release.version, 'change'], ''),
    ...classRows,
  ].join('\n');
}

const sumOf = (files: readonly CountedFile[]): number => files.reduce((sum, { count }) => sum + count, 0);
const signed = (change: number): string => (change > 0 ? `+${change}` : `${change}`);
const lineOf = (cells: readonly (number | string)[], name: string): string =>
  `${cells.map((cell) => `${cell}`.padStart(7)).join(' ')}  ${name}`.trimEnd();
