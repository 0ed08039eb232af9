/**
 * Reads the pages of a list of AWS, up to a bound. The last page has no token; a token that comes twice, or always
 * another one, would be followed for ever. Such a list is incomplete, and says so.
 */
import type { Rows } from './rows.ts';

/** 10,000 rows of 100 a page: twice the services of a cluster and the tasks of a service (docs/internals/aws.md §2). */
const MOST_PAGES = 100;

export type Page<T> = {
  readonly items: readonly T[];
  /** The token of the next page. Undefined or empty: this is the last one. */
  readonly next: string | undefined;
};

type Bounds<T> = {
  /** The most pages to read. @default MOST_PAGES */
  readonly most?: number | undefined;
  /** No page is asked for after it has aborted. @default never */
  readonly signal?: AbortSignal | undefined;
  /** Whether the rows that have been read suffice. Then the list counts as complete. @default never */
  readonly isEnough?: (items: readonly T[]) => boolean;
};

/** `operation`: the name of AWS's call. Throws what `read` throws, and the signal's reason. */
export async function readPages<T>(
  operation: string,
  read: (token: string | undefined) => Promise<Page<T>>,
  { most = MOST_PAGES, signal, isEnough = () => false }: Bounds<T> = {},
): Promise<Pick<Rows<T>, 'items' | 'incomplete'>> {
  const items: T[] = [];
  const tokens = new Set<string | undefined>();
  for (let token: string | undefined; ; ) {
    signal?.throwIfAborted();
    const page = await read(token);
    items.push(...page.items);
    tokens.add(token);
    if (!page.next || isEnough(items)) return { items };
    token = page.next;
    if (tokens.has(token)) return { items, incomplete: `${operation} gave one page token twice, ${LAST}` };
    if (tokens.size >= most)
      return { items, incomplete: `${operation} has more than ${most} pages, ${LAST}` };
  }
}

const LAST = 'so the rest is not read';
