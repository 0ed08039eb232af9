/**
 * Checks that every citation in code and docs names an existing page, section, heading or decision in
 * docs/adr/.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SELF = 'test/docs/citations.test.ts';
const FOLDERS = [
  ...['.ci', 'cli', 'docs', 'examples', 'guard', 'infra', 'lab', 'lambda', 'packaging', 'test'],
];
const TEXT = /\.(?:ts|tsx|md|sh|yaml|json|css)$|^\.ci\//;
/** Recorded answers, installed packages, and generated snapshots. */
const FOREIGN = /\/node_modules\/|^cli\/doctor\/answers\/recorded\/|\/__snapshots__\//;

type Text = { readonly path: string; readonly lines: string; readonly text: string };

const paths = [
  ...readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : [])),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  ),
].filter((path) => TEXT.test(path) && !FOREIGN.test(path) && path !== SELF && path !== 'package-lock.json');

/** `text` has no line breaks, because a citation may continue in the next line of a comment. */
const texts: readonly Text[] = paths.map((path) => {
  const lines = readFileSync(join(root, path), 'utf8');
  return { path, lines, text: lines.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/|#)?\s*/g, ' ') };
});

const pathExists = (path: string): boolean => existsSync(join(root, path));
const pageOf = (path: string): string =>
  existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';

/** All matches of a pattern with named groups, with the file of each. */
function cited(pattern: RegExp): readonly Record<string, string>[] {
  return texts.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(({ 0: citation, groups }) => ({ path, citation, ...groups })),
  );
}

const headingsOf = (page: string): readonly string[] =>
  [...page.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);

/** The anchor that GitHub makes for a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

describe('a citation', () => {
  it('names an existing page', () => {
    const pages = cited(/\b(?<page>docs\/(?:internals\/)?[a-z-]+\.md)\b/g);
    expect(pages.length).toBeGreaterThan(100);
    expect(pages.filter(({ page = '' }) => !pathExists(page))).toEqual([]);
  });

  it('names an existing section', () => {
    const sections = cited(
      /\b(?<page>docs\/(?:internals\/)?[a-z-]+\.md) (?<list>§\d+(?:(?:, | and |, and )§\d+)*)/g,
    ).flatMap(({ list = '', page = '', path }) =>
      [...list.matchAll(/\d+/g)].map(([number]) => ({ path, page, number })),
    );
    expect(sections.length).toBeGreaterThan(100);
    const leadsNowhere = sections.filter(
      ({ page, number }) => !headingsOf(pageOf(page)).some((title) => title.startsWith(`${number}. `)),
    );
    expect(leadsNowhere).toEqual([]);
  });

  it('names an existing heading', () => {
    const headings = cited(/\b(?<page>docs\/(?:internals\/)?[a-z-]+\.md), "(?<title>[^"$]+)"/g);
    expect(headings.length).toBeGreaterThan(10);
    expect(headings.filter(({ page = '', title = '' }) => !headingsOf(pageOf(page)).includes(title))).toEqual(
      [],
    );
  });

  it('names an existing section on its own page', () => {
    const own = texts
      .filter(({ path }) => /^docs\/(?:internals\/)?[a-z-]+\.md$/.test(path))
      .flatMap(({ path, lines }) =>
        [...lines.matchAll(/\(§(\d+)(?:, §(\d+))*\)/g)].map(([citation]) => ({ path, lines, citation })),
      );
    const leadsNowhere = own.filter(({ lines, citation }) =>
      [...citation.matchAll(/\d+/g)].some(
        ([number]) => !headingsOf(lines).some((title) => title.startsWith(`${number}. `)),
      ),
    );
    expect(leadsNowhere.map(({ path, citation }) => ({ path, citation }))).toEqual([]);
  });

  it('names an existing decision in docs/adr', () => {
    const known = new Set(readdirSync(join(root, 'docs/adr')).map((file) => file.slice(0, 4)));
    const decisions = [
      ...cited(/\bADR (?<list>\d+)\b/g),
      ...cited(/\badr\/(?<list>\d{4}(?:, \d{4})*)/g),
    ].flatMap(({ list = '', ...rest }) =>
      [...list.matchAll(/\d+/g)].map(([number]) => ({ ...rest, number: number.padStart(4, '0') })),
    );
    expect(decisions.length).toBeGreaterThan(20);
    expect(decisions.filter(({ number }) => !known.has(number))).toEqual([]);
  });

  it('does not name documents outside this repository', () => {
    const gone = cited(/\baws-facts\b|\b[Cc]ontract §|\bdesign\.md\b|\(design, "/g);
    expect(gone).toEqual([]);
  });
});

it('all files that pages name exist', () => {
  const named = texts
    .filter(({ path }) => path.endsWith('.md') && path !== 'CHANGELOG.md')
    .flatMap(({ path, lines }) =>
      [...lines.matchAll(/`([a-z][\w.-]*\/[\w./-]*\.(?:ts|sh|json))`/g)].map(([, file = '']) => ({
        path,
        file,
      })),
    );
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter(({ file }) => !pathExists(file))).toEqual([]);
});

describe('a link', () => {
  const links = texts
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, lines }) =>
      [...lines.matchAll(/\]\((?!https?:|mailto:)(?<target>[^)#\s]*)(?:#(?<anchor>[^)\s]+))?\)/g)].map(
        ({ groups }) => {
          const { target = '', anchor }: Record<string, string | undefined> = groups ?? {};
          return { path, target: target === '' ? path : join(dirname(path), target), anchor };
        },
      ),
    );

  it('has an existing target', () => {
    expect(links.length).toBeGreaterThan(100);
    // a page of GitHub, beside the files of the repository
    const files = links.filter(({ target }) => !/^\.\.\/\.\.\/(?:actions|issues)\//.test(target));
    expect(files.filter(({ target }) => !pathExists(target))).toEqual([]);
  });

  it('has an existing heading as its anchor', () => {
    const anchored = links.filter(({ target, anchor }) => anchor !== undefined && target.endsWith('.md'));
    expect(
      anchored.filter(
        ({ target, anchor = '' }) => !headingsOf(pageOf(target)).map(anchorOf).includes(anchor),
      ),
    ).toEqual([]);
  });
});
