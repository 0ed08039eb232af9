/**
 * Reads what shows that coderd refuses a transition: the status of workspace owners, and the offline daemons
 * that opened the autostart gate (docs/internals/coder.md §10). Without it the autoscaler tries more often.
 */
import * as z from 'zod';
import type {
  BuildInfo,
  Daemon,
  ForecastReadings,
  Member,
  Reading,
} from '../../../decision/model/snapshot.ts';
import { filtersDaemons } from '../../../decision/model/version.ts';
import type { Organization } from '../../../look/ports.ts';
import type { CoderdHttp } from '../http/http.ts';
import { reading } from '../http/reading.ts';
import { daemonSchema, listPath, memberSchema } from '../http/schemas.ts';

export type RefusalEvidence = Pick<ForecastReadings, 'members' | 'offlineDaemons'>;

/** Two tries are at most a day apart, and the third try is the first with the longest distance. */
const MAX_AGE = '96h';
/** The newest daemons. If there are more, a daemon was online often enough. */
const MOST_DAEMONS = 1000;

export async function readEvidence(
  { http, signal }: { readonly http: CoderdHttp; readonly signal: AbortSignal },
  organization: Organization,
  build: BuildInfo | undefined,
): Promise<RefusalEvidence> {
  const { name } = organization;
  const query = { status: 'offline', max_age: MAX_AGE, limit: String(MOST_DAEMONS) };
  const readMembers = (): Promise<Reading<Member>> =>
    reading({ what: `listing members of organization "${name}"` }, () =>
      http.get(listPath(organization, 'members'), {}, z.array(memberSchema), signal),
    );
  const readDaemons = (): Promise<Reading<Daemon>> =>
    reading({ what: `listing offline daemons of organization "${name}"`, limit: MOST_DAEMONS }, () =>
      http.get(listPath(organization, 'provisionerdaemons'), query, z.array(daemonSchema), signal),
    );
  // older servers list offline daemons with the others
  if (!filtersDaemons(build?.version)) return { members: await readMembers() };
  const [members, offlineDaemons] = await Promise.all([readMembers(), readDaemons()]);
  return { members, offlineDaemons };
}
