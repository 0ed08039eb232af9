/** Checks that the token can read everything that a look reads, by reading it. */

import type { Config } from '../../../lambda/decision/model/config.ts';
import type { OrganizationReadings, Reading, Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import type { Organization } from '../../../lambda/look/ports.ts';
import { type Check, fail, ok, skip, warn } from './check.ts';

const nameOf = (organization: string): string => `organization "${organization}"`;

/** Checks the organizations of the pools. */
export function checkOrganizations({ organizations }: Snapshot['coder']): readonly Check[] {
  return organizations.flatMap(checkOrganization);
}

export function skipOrganizations({ pools }: Config, blocker: string): readonly Check[] {
  return organizationNames(pools).map((name) => skip(nameOf(name), blocker));
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
  const lists: readonly (readonly [string, Reading<unknown> | undefined])[] = [
    ['jobs', readings.jobs],
    ['daemons', readings.daemons],
    ['workspaces', readings.workspaces],
    ['templates', readings.templates],
  ];
  return [
    ok(name, 'listed by coderd'),
    ...lists.flatMap(([list, reading]) =>
      reading === undefined ? [] : [checkReading(`${name}: ${list}`, reading)],
    ),
  ];
}

function checkReading(name: string, { status, error, items }: Reading<unknown>): Check {
  if (status === 'ok') return ok(name, `readable, ${items.length} listed`);
  const says = error ?? `the list is ${status}`;
  return status === 'forbidden' || status === 'failed' ? fail(name, says) : warn(name, says);
}
