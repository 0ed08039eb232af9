/**
 * What tells whether coderd refuses a transition: the status of its owner, and the daemons that have gone, for which the autostart gate
 * was open (docs/coder.md §10). Without either the autoscaler goes on, and tries more often.
 */
import * as z from 'zod';
import type {
  BuildInfo,
  Daemon,
  ForecastReadings,
  Member,
  Reading,
} from '../../../decision/model/snapshot.ts';
import { compareVersion } from '../../../decision/model/version.ts';
import type { Organization } from '../../../look/ports.ts';
import type { CoderdHttp } from '../http/http.ts';
import { reading } from '../http/reading.ts';
import { daemonSchema, memberSchema } from '../http/schemas.ts';

export type RefusalEvidence = Pick<ForecastReadings, 'members' | 'offlineDaemons'>;

/** The longest time between two tries is a day, and the third is the first of these. */
const MAX_AGE = '96h';
/** The newest: where there are more, a daemon was there often enough. */
const MOST_DAEMONS = 1000;

/** Reads both lists of one organization. Doesn't throw. */
export async function readEvidence(
  { http, signal }: { readonly http: CoderdHttp; readonly signal: AbortSignal },
  { id, name }: Organization,
  build: BuildInfo | undefined,
): Promise<RefusalEvidence> {
  const path = `/api/v2/organizations/${encodeURIComponent(id)}`;
  const query = { status: 'offline', max_age: MAX_AGE, limit: String(MOST_DAEMONS) };
  const readMembers = (): Promise<Reading<Member>> =>
    reading({ what: `listing members of organization "${name}"` }, () =>
      http.get(`${path}/members`, {}, z.array(memberSchema), signal),
    );
  const readDaemons = (): Promise<Reading<Daemon>> =>
    reading({ what: `listing offline daemons of organization "${name}"`, limit: MOST_DAEMONS }, () =>
      http.get(`${path}/provisionerdaemons`, query, z.array(daemonSchema), signal),
    );
  // before 2.26 offline daemons are among the others, and unknown parameters are a 400 (docs/coder.md §2)
  if ((compareVersion(build?.version, '2.26') ?? -1) < 0) return { members: await readMembers() };
  const [members, offlineDaemons] = await Promise.all([readMembers(), readDaemons()]);
  return { members, offlineDaemons };
}
