/**
 * Checks that coderd has a licence for external provisioner daemons (docs/internals/coder.md §3).
 */

import { readEntitlement } from '../../../lambda/adapters/coderd/account.ts';
import { CoderdError, type CoderdHttp } from '../../../lambda/adapters/coderd/http/http.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import type { Entitlement } from '../../../lambda/decision/model/snapshot.ts';
import { type Check, fail, ok, skip, warn } from './check.ts';

export const LICENCE = 'licence';

/** Whether coderd is the open-source build, to which the routes of licences and keys are unknown. */
export function isOpenSource(cause: unknown): boolean {
  return cause instanceof CoderdError && cause.code === 'not-found' && cause.message.includes(NO_ROUTE);
}

const NO_ROUTE = 'Route not found';
const OPEN_SOURCE =
  "coderd is the open-source build, which has no licences and lets no external daemon connect: the tasks of all pools would run no job. Install Coder's own release (image ghcr.io/coder/coder), and add a Premium licence in it";

export async function checkLicence(http: CoderdHttp, blocker: string | undefined): Promise<Check> {
  if (blocker !== undefined) return skip(LICENCE, blocker);
  try {
    return judge(await readEntitlement(http));
  } catch (cause) {
    if (isOpenSource(cause)) return fail(LICENCE, OPEN_SOURCE);
    return warn(
      LICENCE,
      `unknown: ${messageOf(cause)}. Check Deployment > Licenses in coderd: external provisioners need a Premium licence`,
    );
  }
}

function judge(entitlement: Entitlement): Check {
  switch (entitlement) {
    case 'entitled':
      return ok(LICENCE, 'includes external provisioner daemons');
    case 'grace_period':
      return warn(
        LICENCE,
        'expired, now in its grace period. Renew it: after the grace period no daemon can connect',
      );
    case 'not_entitled':
      return fail(
        LICENCE,
        'does not include external provisioner daemons, so no daemon can connect. Add a Premium licence in coderd',
      );
    default:
      return entitlement satisfies never;
  }
}
