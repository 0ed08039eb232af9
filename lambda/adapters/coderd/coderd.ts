/** Makes readings for a look from coderd's REST API (docs/internals/coder.md §1, §2, §12). */
import type { EpochMs, JobId, OrganizationId } from '../../decision/model/brands.ts';
import { batchesOf } from '../../decision/model/collections.ts';
import type { BuildInfo, Daemon, ForecastReadings, Job, Reading } from '../../decision/model/snapshot.ts';
import { JOBS_A_REQUEST } from '../../decision/model/units.ts';
import { compareVersion, filtersDaemons, OLDEST_SERVER } from '../../decision/model/version.ts';
import type { Coderd, LicenseReading, Organization, SeenJobs } from '../../look/ports.ts';
import { CODERD_READINGS } from '../../look/reading-names.ts';
import { joinRows } from '../shared/rows.ts';
import { AnswerTimes } from './answer-times.ts';
import { Forecast } from './forecast/forecast.ts';
import type { License } from './hourly.ts';
import { CoderdError, type CoderdHttp } from './http/http.ts';
import { daemonRows, jobRows, organizationRows } from './http/lists.ts';
import { getList, reading, readingOfAll } from './http/reading.ts';
import { buildInfoSchema, listPath } from './http/schemas.ts';
import { listJobs } from './job-list.ts';
import { RememberedJobs } from './job-record.ts';
import type { TokenExpiry } from './token-expiry.ts';

/** Of daemons not seen for longer coderd's reaper has ended the job (docs/internals/coder.md §5). */
const DAEMON_MAX_AGE = '1h';

export const ROLE =
  "the token's user needs the organization template admin role there, or a custom role with provisioner_jobs:read";

/** What the adapters of all invocations share, because it lasts longer than one look. */
type SharedReadings = {
  /** @default a new one */
  readonly forecast?: Forecast;
  /** @default a new one */
  readonly record?: RememberedJobs;
  /** @default the time is unknown */
  readonly tokenExpiry?: TokenExpiry;
  /** @default the license is unknown */
  readonly license?: License;
  /** @default a new one */
  readonly times?: AnswerTimes;
};

export class CoderdAdapter implements Coderd {
  readonly #http: CoderdHttp;
  readonly #forecast: Forecast;
  readonly #record: RememberedJobs;
  readonly #tokenExpiry: TokenExpiry | undefined;
  readonly #license: License | undefined;
  readonly #times: AnswerTimes;

  constructor(http: CoderdHttp, shared: SharedReadings = {}) {
    this.#http = http;
    this.#forecast = shared.forecast ?? new Forecast(http);
    this.#record = shared.record ?? new RememberedJobs();
    this.#tokenExpiry = shared.tokenExpiry;
    this.#license = shared.license;
    this.#times = shared.times ?? new AnswerTimes();
  }

  buildInfo(signal?: AbortSignal): Promise<Reading<BuildInfo>> {
    return reading({ what: CODERD_READINGS.buildInfo }, async () => {
      const { value, date } = await this.#http.get('/api/v2/buildinfo', {}, buildInfoSchema, { signal });
      return { value: { items: [value], leftOut: [] }, date };
    });
  }

  organizations(signal?: AbortSignal): Promise<Reading<Organization>> {
    return reading({ what: CODERD_READINGS.organizations }, () =>
      this.#http.get('/api/v2/organizations', {}, organizationRows, { signal }),
    );
  }

  jobs(
    organization: Organization,
    build: BuildInfo | undefined,
    signal?: AbortSignal,
  ): Promise<Reading<Job>> {
    const what = CODERD_READINGS.jobs(organization);
    return this.#times.timed(`jobs of ${organization.id}`, this.#http, (http) =>
      readingOfAll({ what, role: ROLE }, async (limit) => {
        refuseOldServer(build);
        // Limit 0 means all jobs. The default of 50 drops the oldest (docs/internals/coder.md §1).
        return listJobs(http, organization, {
          filter: { status: 'pending,running' },
          limit,
          rows: jobRows,
          signal,
        });
      }),
    );
  }

  jobsByIds(organization: Organization, ids: readonly JobId[], signal?: AbortSignal): Promise<Reading<Job>> {
    const what = CODERD_READINGS.jobsByIds(organization);
    return this.#times.timed(`previous jobs of ${organization.id}`, this.#http, (http) =>
      reading({ what, role: ROLE }, async () => {
        const parts = await Promise.all(
          batchesOf(ids, JOBS_A_REQUEST).map((batch) =>
            listJobs(http, organization, {
              filter: { ids: batch.join(',') },
              limit: '0',
              rows: jobRows,
              signal,
            }),
          ),
        );
        return { value: joinRows(parts.map(({ value }) => value)), date: parts[0]?.date };
      }),
    );
  }

  daemons(
    organization: Organization,
    build: BuildInfo | undefined,
    signal?: AbortSignal,
  ): Promise<Reading<Daemon>> {
    const offline: Readonly<Record<string, string>> = filtersDaemons(build?.version)
      ? { offline: 'true', max_age: DAEMON_MAX_AGE }
      : {};
    return readingOfAll({ what: CODERD_READINGS.daemons(organization), role: ROLE }, (limit) =>
      getList(this.#http, listPath(organization, 'provisionerdaemons'), { limit, ...offline }, daemonRows, {
        signal,
      }),
    );
  }

  forecast(
    organizations: readonly Organization[],
    when: { readonly now: EpochMs; readonly refreshMs: number; readonly build?: BuildInfo | undefined },
  ): Promise<ReadonlyMap<OrganizationId, ForecastReadings>> {
    return this.#forecast.readings(organizations, when);
  }

  recentJobs({ id }: Organization, seen: SeenJobs): Reading<Job> {
    return this.#record.recentJobs(id, seen);
  }

  knowsEnd({ id: organization }: Organization, id: JobId): boolean {
    return this.#record.knowsEnd(organization, id);
  }

  gone({ id }: Organization, open: Reading<Job>): readonly JobId[] {
    return this.#record.gone(id, open).slice(0, JOBS_A_REQUEST);
  }

  async tokenExpiry(now: EpochMs): Promise<EpochMs | undefined> {
    return this.#tokenExpiry?.at(now);
  }

  async license(now: EpochMs, isDoubted: boolean): Promise<LicenseReading> {
    return (await this.#license?.at(now, isDoubted)) ?? {};
  }
}

/** Throws CoderdError `too-old` without the jobs API: a 404 would look like a missing role. */
export function refuseOldServer(build: BuildInfo | undefined): void {
  if ((compareVersion(build?.version, OLDEST_SERVER) ?? 0) >= 0) return;
  throw new CoderdError(
    'too-old',
    `coderd ${build?.version} is too old: the autoscaler needs the provisioner jobs API of ${OLDEST_SERVER} or newer`,
  );
}
