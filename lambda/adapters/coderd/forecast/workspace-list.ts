/**
 * All workspaces that the token's user may read, of all organizations (docs/coder.md §10). coderd lists running ones first, so
 * a build that ends while pages are read moves a row from one to another: some rows come twice, others not at all.
 */
import type { EpochMs } from '../../../decision/model/brands.ts';
import { unique } from '../../../decision/model/collections.ts';
import type { Reading, Workspace } from '../../../decision/model/snapshot.ts';
import type { CoderdHttp, Document } from '../http/http.ts';
import { failure } from '../http/reading.ts';
import { workspacesPageSchema } from '../http/schemas.ts';
import { isFulfilled, isRejected, settleAll } from './settle-all.ts';

/** Rows; each has some kilobytes in coderd's answer. */
const PAGE = 250;
const PAGES_AT_ONCE = 8;
/** coderd takes 512 requests a minute of one user to one endpoint (docs/coder.md §9), and pages may be read twice. */
const MOST_PAGES = 200;

type Page = Document<{ readonly workspaces: readonly Workspace[]; readonly count: number }>;
type Pages = readonly PromiseSettledResult<Page>[];

/** What a listing needs: the client, when to give up, and what to say of the role when coderd refuses. */
export type Listing = { readonly http: CoderdHttp; readonly signal: AbortSignal; readonly role: string };

export type Listed = {
  readonly list: Reading<Workspace>;
  /** The first page that failed; 0 where none did, or the very first. */
  readonly resumeAt: number;
};

/** When it is, for an answer that doesn't say, and the page after the first to begin with: where time is short, all have their turn. */
export type Turn = { readonly now: EpochMs; readonly resumeAt: number };

/**
 * Lists them page by page, and all pages once more if rows are missing. Where a page fails, the reading is `failed`
 * with the items of the others.
 */
export async function listWorkspaces(listing: Listing, { now, resumeAt }: Turn): Promise<Listed> {
  const asked = { what: 'listing workspaces', role: listing.role };
  const [first] = await readPages(listing, [0]);
  if (first?.status !== 'fulfilled')
    return { list: { ...failure(asked, first?.reason), items: [] }, resumeAt: 0 };
  const { value, date: takenAt = now } = first.value;
  const offsets = rotated(offsetsOf(value.count).slice(1), resumeAt);
  const others = await readPages(listing, offsets);
  const pages = [first, ...others];
  const broken = others.findIndex(isRejected);
  const failed = others[broken];
  if (failed !== undefined && isRejected(failed)) {
    const part = { status: 'failed', takenAt, items: itemsOf(pages) } as const;
    return { list: { ...failure(asked, failed.reason), ...part }, resumeAt: offsets[broken] ?? 0 };
  }
  return { list: { takenAt, ...(await completed(listing, pages, value.count)) }, resumeAt: 0 };
}

function rotated(offsets: readonly number[], resumeAt: number): readonly number[] {
  return [
    ...offsets.filter((offset) => offset >= resumeAt),
    ...offsets.filter((offset) => offset < resumeAt),
  ];
}

/** The rows of the pages, and where there are fewer than coderd counts, those of a second reading too. */
async function completed(listing: Listing, pages: Pages, count: number): Promise<Reading<Workspace>> {
  const once = itemsOf(pages);
  if (once.length >= count) return { status: 'ok', items: once };
  const items = itemsOf([...(await readPages(listing, offsetsOf(count))), ...pages]);
  if (items.length >= count) return { status: 'ok', items };
  return {
    status: 'truncated',
    error: `listing workspaces: coderd counts ${count} and lists ${items.length}; it lists those whose templates the token's user may read, and no more than ${MOST_PAGES * PAGE} are read`,
    items,
  };
}

function readPages({ http, signal }: Listing, offsets: readonly number[]): Promise<Pages> {
  return settleAll(offsets, PAGES_AT_ONCE, (offset) =>
    http.get(
      '/api/v2/workspaces',
      { limit: String(PAGE), offset: String(offset) },
      workspacesPageSchema,
      signal,
    ),
  );
}

function offsetsOf(count: number): readonly number[] {
  const pages = Math.min(MOST_PAGES, Math.max(1, Math.ceil(count / PAGE)));
  return Array.from({ length: pages }, (_, index) => index * PAGE);
}

/** Each workspace once, as the first page has it that lists it. */
function itemsOf(pages: Pages): readonly Workspace[] {
  const items = pages.filter(isFulfilled).flatMap(({ value }) => value.value.workspaces);
  return unique(items, ({ id }) => id);
}
