/** The readings of coderd (contract §1, §2, §12). */
import * as z from 'zod';
import type { Coderd, Organization } from '../../app/ports.ts';
import type { JobId } from '../../core/brands.ts';
import { batchesOf } from '../../core/order.ts';
import type { BuildInfo, Daemon, Job, Reading } from '../../core/snapshot.ts';
import { compareVersion, OLDEST_SERVER } from '../../core/version.ts';
import { CoderdError, type CoderdHttp, type Document } from './http.ts';
import { buildInfoSchema, daemonSchema, jobSchema, organizationSchema } from './schemas.ts';

/** Ids of one request: a URL of 100 UUIDs has under 4 KB. */
const IDS_A_REQUEST = 100;
/** Daemons that were last seen earlier can hold no job: coderd's reaper has taken it long ago (contract §5). */
const DAEMON_MAX_AGE = '1h';

const ROLE =
  "the token's user needs the organization template admin role there, or a custom role with provisioner_jobs:read";

export class CoderdAdapter implements Coderd {
  readonly #http: CoderdHttp;

  constructor(http: CoderdHttp) {
    this.#http = http;
  }

  buildInfo(): Promise<Reading<BuildInfo>> {
    return reading('reading the build info', async () => {
      const { value, date } = await this.#http.get('/api/v2/buildinfo', {}, buildInfoSchema);
      return { value: [value], date };
    });
  }

  organizations(): Promise<Reading<Organization>> {
    return reading('listing organizations', () =>
      this.#http.get('/api/v2/organizations', {}, z.array(organizationSchema)),
    );
  }

  jobs(organization: Organization, build: BuildInfo | undefined): Promise<Reading<Job>> {
    return reading(
      `listing provisioner jobs of organization "${organization.name}"`,
      () => {
        refuseOldServer(build);
        // limit 0 = all: the default of 50 drops the oldest jobs (contract §1)
        return this.#jobs(organization, { status: 'pending,running', limit: '0' });
      },
      0,
    );
  }

  async jobsByIds(organization: Organization, ids: readonly JobId[]): Promise<Reading<Job>> {
    return reading(`reading previous jobs of organization "${organization.name}"`, async () => {
      const parts = await Promise.all(
        batchesOf(ids, IDS_A_REQUEST).map((batch) =>
          this.#jobs(organization, { ids: batch.join(','), limit: '0' }),
        ),
      );
      return { value: parts.flatMap(({ value }) => value), date: parts[0]?.date };
    });
  }

  daemons(organization: Organization, build: BuildInfo | undefined): Promise<Reading<Daemon>> {
    // before 2.26 offline daemons are listed anyway, and unknown parameters are a 400 (contract §2)
    const tellsOffline = (compareVersion(build?.version, '2.26') ?? -1) >= 0;
    const offline = tellsOffline ? { offline: 'true', max_age: DAEMON_MAX_AGE } : {};
    return reading(
      `listing provisioner daemons of organization "${organization.name}"`,
      () =>
        this.#http.get(
          `/api/v2/organizations/${encodeURIComponent(organization.id)}/provisionerdaemons`,
          { limit: '0', ...offline },
          z.array(daemonSchema),
        ),
      0,
    );
  }

  #jobs(
    organization: Organization,
    query: Readonly<Record<string, string>>,
  ): Promise<Document<readonly Job[]>> {
    return this.#http.get(
      `/api/v2/organizations/${encodeURIComponent(organization.id)}/provisionerjobs`,
      query,
      z.array(jobSchema),
    );
  }
}

/** An old server answers 404 to the jobs list, as it would for a missing role. */
function refuseOldServer(build: BuildInfo | undefined): void {
  if ((compareVersion(build?.version, OLDEST_SERVER) ?? 0) >= 0) return;
  throw new CoderdError(
    'too-old',
    `coderd ${build?.version} has no provisioner jobs API; ${OLDEST_SERVER} or newer is needed`,
  );
}

/** Runs one reading; what goes wrong becomes its status, with a sentence. */
async function reading<T>(
  what: string,
  read: () => Promise<Document<readonly T[]>>,
  limit?: number,
): Promise<Reading<T>> {
  const asked = limit === undefined ? {} : { limit };
  try {
    const { value, date } = await read();
    return { status: 'ok', ...asked, ...(date === undefined ? {} : { takenAt: date }), items: value };
  } catch (cause) {
    const isForbidden = cause instanceof CoderdError && cause.code === 'not-found';
    const said = cause instanceof Error ? cause.message : String(cause);
    const advice = isForbidden && what.includes('provisioner') ? `; ${ROLE}` : '';
    return {
      status: isForbidden ? 'forbidden' : 'failed',
      error: `${what}: ${said}${advice}`,
      ...asked,
      items: [],
    };
  }
}
