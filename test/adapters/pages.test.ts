/** Lists of AWS in pages: each is read up to a bound, and one that reaches it says so. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Page, readPages } from '../../lambda/adapters/shared/pages.ts';

/** Gives the pages with these tokens, one after another; the last one for ever. Counts the calls. */
function listOf(...tokens: readonly (string | undefined)[]) {
  const asked: (string | undefined)[] = [];
  const read = async (token: string | undefined): Promise<Page<number>> => {
    asked.push(token);
    const index = asked.length - 1;
    return { items: [index], next: tokens[index] ?? (index < tokens.length ? undefined : `t${index}`) };
  };
  return { asked, read };
}

const endless = Array.from({ length: 200 }, (_, index) => `t${index}`);

describe('the pages of a list', () => {
  it.each([
    { what: 'one page', tokens: [undefined], most: 100, pages: 1 },
    { what: 'three pages', tokens: ['a', 'b', undefined], most: 100, pages: 3 },
    { what: 'an empty token at the end', tokens: ['a', ''], most: 100, pages: 2 },
    { what: 'as many pages as are read', tokens: ['a', 'b', undefined], most: 3, pages: 3 },
  ])('are complete: $what', async ({ tokens, most, pages }) => {
    const { asked, read } = listOf(...tokens);
    const { items, incomplete } = await readPages('ListThings', read, { most });
    expect(items).toEqual(Array.from({ length: pages }, (_, index) => index));
    expect(incomplete).toBeUndefined();
    expect(asked).toEqual([undefined, ...tokens.slice(0, -1)]);
  });

  const TWICE = 'ListThings gave one page token twice, so the rest is not read';
  it.each([
    { what: 'the same token again', tokens: ['a', 'a'], pages: 2, says: TWICE },
    { what: 'tokens in a circle', tokens: ['a', 'b', 'a'], pages: 3, says: TWICE },
    {
      what: 'always another token',
      tokens: endless,
      pages: 100,
      says: 'ListThings has more than 100 pages, so the rest is not read',
    },
  ])('are incomplete: $what', async ({ tokens, pages, says }) => {
    const { asked, read } = listOf(...tokens);
    const { items, incomplete } = await readPages('ListThings', read);
    expect(incomplete).toBe(says);
    expect([asked.length, items.length]).toEqual([pages, pages]);
  });

  it('are complete once they suffice', async () => {
    const { asked, read } = listOf(...endless);
    const isEnough = ({ length }: { readonly length: number }) => length >= 3;
    expect(await readPages('ListThings', read, { isEnough })).toEqual({ items: [0, 1, 2] });
    expect(asked).toHaveLength(3);
  });

  it('are not asked for after the time is up', async () => {
    const time = new AbortController();
    const { asked, read } = listOf(...endless);
    const late = async (token: string | undefined) => {
      if (asked.length === 1) time.abort(new Error('the time is up'));
      return read(token);
    };
    await expect(readPages('ListThings', late, { signal: time.signal })).rejects.toThrow('the time is up');
    expect(asked).toHaveLength(2);
  });
});

describe('the product', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const files = ['lambda', 'cli'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => ({ name: `${folder}/${name}`, text: readFileSync(join(root, folder, name), 'utf8') })),
  );

  it('reads no list of AWS without a bound', () => {
    const withToken = files.filter(({ text }) => /\b[nN]extToken\b/.test(text));
    expect(withToken.length).toBeGreaterThan(5);
    expect(withToken.filter(({ text }) => !text.includes('readPages(')).map(({ name }) => name)).toEqual([]);
    // the paginators of the SDK have no bound
    expect(files.filter(({ text }) => /\bpaginate[A-Z]/.test(text)).map(({ name }) => name)).toEqual([]);
  });
});
