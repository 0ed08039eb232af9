/**
 * Keeps the readings of the forecast, so a warm function reads 10,000 workspaces every few minutes, not every
 * 10 s. Ages are in coderd's time, as the look has it; the budget of a reading is in real time.
 */
import type { EpochMs, OrganizationId } from '../../../decision/model/brands.ts';
import { unique } from '../../../decision/model/collections.ts';
import type { BuildInfo, ForecastReadings, Reading } from '../../../decision/model/snapshot.ts';
import type { Organization } from '../../../look/ports.ts';
import type { CoderdHttp } from '../http/http.ts';
import { ForecastReading } from './forecast-reading.ts';

/** A look waits for the refresh, and the next look comes after 10 s. */
const BUDGET_MS = 10_000;
const RETRY_MS = 30_000;

type ReadingsByOrganization = ReadonlyMap<OrganizationId, ForecastReadings>;
type When = {
  readonly now: EpochMs;
  readonly refreshMs: number;
  readonly build?: BuildInfo | undefined;
};
type Refresh = {
  readonly at: EpochMs;
  readonly hasFailed: boolean;
  readonly readings: ReadingsByOrganization;
};

export class Forecast {
  readonly #reading: ForecastReading;
  #last: Refresh | undefined;
  #refreshing: Promise<Refresh> | undefined;

  /** `budgetMs` limits one refresh with all its requests. @default 10 s */
  constructor(http: CoderdHttp, budgetMs = BUDGET_MS) {
    this.#reading = new ForecastReading(http, budgetMs);
  }

  /** The last readings, refreshed if they are older than `refreshMs`. Concurrent looks share one refresh. */
  async readings(organizations: readonly Organization[], when: When): Promise<ReadingsByOrganization> {
    const last = this.#last;
    if (last !== undefined && isFresh(last, organizations, when)) return last.readings;
    this.#refreshing ??= this.#refresh(organizations, when).finally(() => {
      this.#refreshing = undefined;
    });
    return (await this.#refreshing).readings;
  }

  async #refresh(organizations: readonly Organization[], when: When): Promise<Refresh> {
    const { now: at } = when;
    const fresh = await this.#reading.read(organizations, when);
    const earlier = this.#last?.readings;
    const hasFailed = [...fresh.values()].some(
      ({ workspaces, templates }) => workspaces.status === 'failed' || templates.status === 'failed',
    );
    const readings = new Map([...fresh].map(([id, own]) => [id, bridgedReadings(own, earlier?.get(id))]));
    this.#last = { at, hasFailed, readings };
    return this.#last;
  }
}

function isFresh(last: Refresh, organizations: readonly Organization[], { now, refreshMs }: When): boolean {
  // The absolute age: a list must not stay forever after the clock was set back.
  const ageMs = Math.abs(now - last.at);
  return (
    ageMs < (last.hasFailed ? RETRY_MS : refreshMs) && organizations.every(({ id }) => last.readings.has(id))
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

/** The newest reading that did not fail. */
function latest<T>(fresh: Reading<T> | undefined, earlier: Reading<T> | undefined): Reading<T> | undefined {
  if (fresh !== undefined && fresh.status !== 'failed') return fresh;
  return earlier === undefined || earlier.status === 'failed' ? fresh : { ...earlier, status: 'stale' };
}

/** If the reading has failed, items of the earlier reading replace the missing ones. */
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
