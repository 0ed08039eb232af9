/**
 * The forecast, kept for the life of the process: a warm function reads 10,000 workspaces every few minutes, not every
 * 10 s. Time is coderd's, as the look that asks has it; only the budget of a reading is real time.
 */

import type { EpochMs, OrganizationId } from '../../../decision/model/brands.ts';
import { unique } from '../../../decision/model/collections.ts';
import type { BuildInfo, ForecastReadings, Reading } from '../../../decision/model/snapshot.ts';
import type { Organization } from '../../../look/ports.ts';
import type { CoderdHttp } from '../http/http.ts';
import { ForecastReading } from './forecast-reading.ts';

/** A look waits for it, and there is one every 10 s. */
const BUDGET_MS = 10_000;
const RETRY_MS = 30_000;

type Sights = ReadonlyMap<OrganizationId, ForecastReadings>;
type When = {
  readonly now: EpochMs;
  readonly refreshMs: number;
  readonly build?: BuildInfo | undefined;
};
type Refresh = { readonly at: EpochMs; readonly hasFailed: boolean; readonly sights: Sights };

export class Forecast {
  readonly #reading: ForecastReading;
  #last: Refresh | undefined;
  #refreshing: Promise<Refresh> | undefined;

  /** `budgetMs`: for one refresh with all its requests. @default 10 s */
  constructor(http: CoderdHttp, budgetMs = BUDGET_MS) {
    this.#reading = new ForecastReading(http, budgetMs);
  }

  /** What was read last, read anew where that is older than `refreshMs`. Looks at the same time share one reading. */
  async sights(organizations: readonly Organization[], when: When): Promise<Sights> {
    const last = this.#last;
    if (last !== undefined && isFresh(last, organizations, when)) return last.sights;
    this.#refreshing ??= this.#refresh(organizations, when).finally(() => {
      this.#refreshing = undefined;
    });
    return (await this.#refreshing).sights;
  }

  async #refresh(organizations: readonly Organization[], when: When): Promise<Refresh> {
    const { now: at } = when;
    const fresh = await this.#reading.read(organizations, when);
    const earlier = this.#last?.sights;
    const hasFailed = [...fresh.values()].some(
      ({ workspaces, templates }) => workspaces.status === 'failed' || templates.status === 'failed',
    );
    const sights = new Map([...fresh].map(([id, sight]) => [id, bridgedReadings(sight, earlier?.get(id))]));
    this.#last = { at, hasFailed, sights };
    return this.#last;
  }
}

function isFresh(last: Refresh, organizations: readonly Organization[], { now, refreshMs }: When): boolean {
  // a clock that was set back must not keep a list for good
  const ageMs = Math.abs(now - last.at);
  return (
    ageMs < (last.hasFailed ? RETRY_MS : refreshMs) && organizations.every(({ id }) => last.sights.has(id))
  );
}

function bridgedReadings(fresh: ForecastReadings, earlier: ForecastReadings | undefined): ForecastReadings {
  const tags = fresh.templates.status === 'failed' ? earlier?.activeVersionTags : fresh.activeVersionTags;
  return {
    workspaces: bridged(fresh.workspaces, earlier?.workspaces),
    templates: bridged(fresh.templates, earlier?.templates),
    activeVersionTags: tags ?? {},
    members: latest(fresh.members, earlier?.members),
    offlineDaemons: latest(fresh.offlineDaemons, earlier?.offlineDaemons),
  };
}

/** The last one that did not fail. */
function latest<T>(fresh: Reading<T> | undefined, earlier: Reading<T> | undefined): Reading<T> | undefined {
  if (fresh !== undefined && fresh.status !== 'failed') return fresh;
  return earlier === undefined || earlier.status === 'failed' ? fresh : { ...earlier, status: 'stale' };
}

/** Where reading has failed, what an earlier look saw stands in for what didn't come. */
function bridged<T extends { readonly id: string }>(
  fresh: Reading<T>,
  earlier: Reading<T> | undefined,
): Reading<T> {
  const { status, error, items } = fresh;
  if (status !== 'failed') return fresh;
  if (earlier?.takenAt === undefined)
    return items.length === 0 ? { status, error, items } : { ...fresh, status: 'truncated' };
  const both = unique([...items, ...earlier.items], ({ id }) => id);
  return { status: 'stale', error, takenAt: earlier.takenAt, items: both };
}
