/**
 * Lists all workspaces that the token's user may read (docs/internals/coder.md §10). Running ones come first, so
 * a build that ends between two requests moves a row: some come twice and others are missing.
 */
import type { EpochMs } from '../../../decision/model/brands.ts';
import { unique } from '../../../decision/model/collections.ts';
import type { Reading, Workspace } from '../../../decision/model/snapshot.ts';
import { joinRows, type Rows, readingOfRows } from '../../shared/rows.ts';
import { CoderdError, type CoderdHttp, type Document } from '../http/http.ts';
import { workspacesPageSchema } from '../http/lists.ts';
import { failure } from '../http/reading.ts';
import { isFulfilled, isRejected, settleAll } from './settle-all.ts';

/** Rows in one page: for each page coderd's database evaluates all workspaces (docs/internals/coder.md §11). */
const PAGE = 1000;
/** If a page does not fit into memory. A row has 5 to 10 KB in coderd's answer, and more with many agents. */
const SMALL_PAGE = 250;
const PAGES_AT_ONCE = 4;
/** One user may ask one endpoint 512 times a minute (docs/internals/coder.md §9), for each small page twice. */
const MOST_ROWS = 200 * SMALL_PAGE;

type Page = Document<{ readonly workspaces: Rows<Workspace>; readonly count: number }>;
type Pages = readonly PromiseSettledResult<Page>[];

/** The client, the time limit, and the advice about the role if coderd refuses. */
export type Listing = { readonly http: CoderdHttp; readonly signal: AbortSignal; readonly role: string };

type ListedWorkspaces = {
  readonly list: Reading<Workspace>;
  /** The offset of the first page that failed. 0 if none failed, or if the first page failed. */
  readonly resumeAt: number;
};

/** `resumeAt`: the offset of the second page to read, so that each page gets its turn if time is short. */
type Turn = { readonly now: EpochMs; readonly resumeAt: number };

/** Page by page, once more if rows are missing. If a page fails, the reading is `failed` with the others. */
export async function listWorkspaces(listing: Listing, turn: Turn): Promise<ListedWorkspaces> {
  try {
    return await listPages({ ...listing, page: PAGE }, turn);
  } catch (cause) {
    if (!(cause instanceof PageTooLongError)) throw cause;
    return listPages({ ...listing, page: SMALL_PAGE }, turn);
  }
}

/** A page does not fit into memory, and a smaller one may. */
class PageTooLongError extends Error {
  override readonly name = 'PageTooLongError';
}

async function listPages(listing: PageListing, { now, resumeAt }: Turn): Promise<ListedWorkspaces> {
  const request = { what: WHAT, role: listing.role };
  const [first] = await readPages(listing, [0]);
  if (first?.status !== 'fulfilled')
    return { list: { ...failure(request, first?.reason), items: [] }, resumeAt: 0 };
  const { value, date: takenAt = now } = first.value;
  const offsets = rotated(offsetsOf(value.count, listing).slice(1), resumeAt);
  const others = await readPages(listing, offsets);
  const pages = [first, ...others];
  const broken = others.findIndex(isRejected);
  const failed = others[broken];
  if (failed !== undefined && isRejected(failed)) {
    const part = { status: 'failed', takenAt, items: rowsIn(pages).items } as const;
    return { list: { ...failure(request, failed.reason), ...part }, resumeAt: offsets[broken] ?? 0 };
  }
  return { list: { takenAt, ...(await completed(listing, pages, value.count)) }, resumeAt: 0 };
}

function rotated(offsets: readonly number[], resumeAt: number): readonly number[] {
  return [
    ...offsets.filter((offset) => offset >= resumeAt),
    ...offsets.filter((offset) => offset < resumeAt),
  ];
}

/** The rows of the pages. If they are fewer than coderd's count, the rows of a second reading too. */
async function completed(listing: PageListing, pages: Pages, count: number): Promise<Reading<Workspace>> {
  const once = rowsIn(pages);
  if (isWhole(once, count)) return readingOfRows(WHAT, once);
  const rows = rowsIn([...(await readPages(listing, offsetsOf(count, listing))), ...pages]);
  if (isWhole(rows, count)) return readingOfRows(WHAT, rows);
  return {
    status: 'truncated',
    error: `${WHAT}: coderd counts ${count} workspaces but lists ${rows.items.length}; it omits those whose templates the token's user may not read, and the autoscaler reads at most ${MOST_ROWS}`,
    items: rows.items,
  };
}

const WHAT = 'listing workspaces';

function isWhole({ items, leftOut }: Rows<Workspace>, count: number): boolean {
  return items.length + leftOut.length >= count;
}

type PageListing = Listing & { readonly page: number };

/** Throws PageTooLongError. */
async function readPages({ http, signal, page }: PageListing, offsets: readonly number[]): Promise<Pages> {
  const pages = await settleAll(offsets, PAGES_AT_ONCE, (offset) =>
    http.get('/api/v2/workspaces', { limit: String(page), offset: String(offset) }, workspacesPageSchema, {
      signal,
    }),
  );
  const isTooLong = (cause: unknown) => cause instanceof CoderdError && cause.code === 'too-long';
  if (page > SMALL_PAGE && pages.some((each) => isRejected(each) && isTooLong(each.reason)))
    throw new PageTooLongError();
  return pages;
}

function offsetsOf(count: number, { page }: PageListing): readonly number[] {
  const pages = Math.max(1, Math.ceil(Math.min(MOST_ROWS, count) / page));
  return Array.from({ length: pages }, (_, index) => index * page);
}

/** Each workspace once, from the first page that lists it. */
function rowsIn(pages: Pages): Rows<Workspace> {
  const rows = joinRows(pages.filter(isFulfilled).map(({ value }) => value.value.workspaces));
  return { items: unique(rows.items, ({ id }) => id), leftOut: unique(rows.leftOut, ({ row }) => row) };
}
