/**
 * All workspaces that the token's user may read, of all organizations (contract §10). coderd lists running ones first, so
 * a build that ends while pages are read moves a row from one to another: some rows come twice, others not at all.
 */
import type { EpochMs } from '../../core/brands.ts';
import { unique } from '../../core/order.ts';
import type { Reading, Workspace } from '../../core/snapshot.ts';
import type { CoderdHttp, Document } from './http.ts';
import { failure } from './reading.ts';
import { workspacesPageSchema } from './schemas.ts';
import { isFulfilled, isRejected, settleAll } from './settle-all.ts';

/** Rows; each has some kilobytes in coderd's answer. */
const PAGE = 250;
const PAGES_AT_ONCE = 4;
/** coderd takes 512 requests a minute of one user to one endpoint (contract §9), and pages may be read twice. */
const MOST_PAGES = 200;

type Page = Document<{ readonly workspaces: readonly Workspace[]; readonly count: number }>;
type Pages = readonly PromiseSettledResult<Page>[];

/** What a listing needs: the client, when to give up, and what to say of the role when coderd refuses. */
export type Listing = { readonly http: CoderdHttp; readonly signal: AbortSignal; readonly role: string };

/**
 * Lists them page by page, and all pages once more if rows are missing. Where a page fails, the reading is `failed`
 * with the items of the others. `now`: for an answer that doesn't say when it was made.
 */
export async function listWorkspaces(listing: Listing, now: EpochMs): Promise<Reading<Workspace>> {
  const asked = { what: 'listing workspaces', role: listing.role };
  const [first] = await readPages(listing, [0]);
  if (first?.status !== 'fulfilled') return { ...failure(asked, first?.reason), items: [] };
  const { value, date: takenAt = now } = first.value;
  const offsets = offsetsOf(value.count);
  const pages = [first, ...(await readPages(listing, offsets.slice(1)))];
  const broken = pages.find(isRejected);
  if (broken) return { ...failure(asked, broken.reason), status: 'failed', takenAt, items: itemsOf(pages) };
  return { takenAt, ...(await completed(listing, pages, value.count)) };
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
