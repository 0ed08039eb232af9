/** Are external provisioner daemons licensed (docs/coder.md §3)? */
import { type Entitlement, readEntitlement } from '../../lambda/adapters/coderd/account.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { type Check, fail, ok, saidBy, skip, warn } from './check.ts';

const LICENCE = 'licence';

export async function checkLicence(http: CoderdHttp, blocker: string | undefined): Promise<Check> {
  if (blocker !== undefined) return skip(LICENCE, blocker);
  try {
    return judge(await readEntitlement(http));
  } catch (cause) {
    return warn(
      LICENCE,
      `unknown: ${saidBy(cause)}; see Deployment > Licenses in coderd: external provisioners need a Premium licence`,
    );
  }
}

function judge(entitlement: Entitlement): Check {
  switch (entitlement) {
    case 'entitled':
      return ok(LICENCE, 'has external provisioner daemons');
    case 'grace_period':
      return warn(LICENCE, 'has run out and is in its grace period; renew it before no daemon can connect');
    case 'not_entitled':
      return fail(
        LICENCE,
        'external provisioner daemons are not licensed, so no daemon can connect; add a Premium licence in coderd',
      );
    default:
      return entitlement satisfies never;
  }
}
