/** Checks of coderd: its licence (docs/internals/coder.md §3), and that the token can read what a look reads. */
import { readEntitlement } from '../../lambda/adapters/coderd/account.ts';
import { CoderdError, type CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type {
  Entitlement,
  OrganizationReadings,
  Reading,
  Snapshot,
} from '../../lambda/decision/model/snapshot.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { type Check, fail, ok, skip, warn } from './check/check.ts';

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
    return judgeLicence(await readEntitlement(http));
  } catch (cause) {
    if (isOpenSource(cause)) return fail(LICENCE, OPEN_SOURCE);
    return warn(
      LICENCE,
      `unknown: ${messageOf(cause)}. Check Deployment > Licenses in coderd: external provisioners need a Premium licence`,
    );
  }
}

function judgeLicence(entitlement: Entitlement): Check {
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

const nameOf = (organization: string): string => `organization "${organization}"`;

/** Checks the organizations of the pools; without a reading of coderd it skips them. */
export function checkOrganizations(
  coder: Snapshot['coder'] | undefined,
  { pools }: Config,
  blocker = '',
): readonly Check[] {
  if (coder === undefined) return organizationNames(pools).map((name) => skip(nameOf(name), blocker));
  return coder.organizations.flatMap(checkOrganization);
}

/** The organizations of the pools, each once: names or ids, as the configuration has them. */
export function organizationNames(pools: Config['pools']): readonly string[] {
  return [...new Set(pools.map(({ organization }) => organization))].sort();
}

/** The organization of a pool, by name or id; undefined if coderd does not list it. */
export function organizationOf(
  { organizations }: Snapshot['coder'],
  nameOrId: string,
): Organization | undefined {
  return organizations.find((item) => isListed(item) && (item.id === nameOrId || item.name === nameOrId));
}

/** A look uses the name as the id of an organization that coderd does not list. */
const isListed = ({ id, name }: Organization): boolean => id !== name;

function checkOrganization(readings: OrganizationReadings): readonly Check[] {
  const name = nameOf(readings.name);
  // each of its readings has the error
  if (!isListed(readings)) return [fail(name, readings.jobs.error ?? 'coderd does not list it')];
  const lists = (['jobs', 'daemons', 'workspaces', 'templates'] as const).flatMap((list) => {
    const reading = readings[list];
    return reading === undefined ? [] : [checkReading(`${name}: ${list}`, reading)];
  });
  return [ok(name, 'listed by coderd'), ...lists];
}

function checkReading(name: string, { status, error, items }: Reading<unknown>): Check {
  if (status === 'ok') return ok(name, `readable, ${items.length} listed`);
  const says = error ?? `the list is ${status}`;
  return status === 'forbidden' || status === 'failed' ? fail(name, says) : warn(name, says);
}
