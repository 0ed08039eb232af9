/** Can everything be read that a look reads? By reading it. */

import type { Config } from '../../lambda/decision/model/config.ts';
import type { OrganizationReadings, Reading, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { type Check, fail, ok, skip, warn } from './check.ts';

const nameOf = (organization: string): string => `organization "${organization}"`;

/** The organizations that pools name. */
export function checkOrganizations({ organizations }: Snapshot['coder']): readonly Check[] {
  return organizations.flatMap(checkOrganization);
}

export function skipOrganizations({ pools }: Config, blocker: string): readonly Check[] {
  const names = [...new Set(pools.map(({ organization }) => organization))].sort();
  return names.map((name) => skip(nameOf(name), blocker));
}

/** The organization that a pool means, by name or id; undefined: none of that name is seen. */
export function organizationOf(
  { organizations }: Snapshot['coder'],
  nameOrId: string,
): Organization | undefined {
  return organizations.find((item) => isListed(item) && (item.id === nameOrId || item.name === nameOrId));
}

/** A look gives an organization that coderd does not list its name as its id. */
const isListed = ({ id, name }: Organization): boolean => id !== name;

function checkOrganization(sight: OrganizationReadings): readonly Check[] {
  const name = nameOf(sight.name);
  // its readings say so
  if (!isListed(sight)) return [fail(name, sight.jobs.error ?? 'coderd does not list it')];
  const lists: readonly (readonly [string, Reading<unknown> | undefined])[] = [
    ['jobs', sight.jobs],
    ['daemons', sight.daemons],
    ['workspaces', sight.workspaces],
    ['templates', sight.templates],
  ];
  return [
    ok(name, 'is there'),
    ...lists.flatMap(([list, reading]) =>
      reading === undefined ? [] : [checkReading(`${name}: ${list}`, reading)],
    ),
  ];
}

function checkReading(name: string, { status, error, items }: Reading<unknown>): Check {
  if (status === 'ok') return ok(name, `readable, ${items.length} seen`);
  const says = error ?? `the list is ${status}`;
  return status === 'forbidden' || status === 'failed' ? fail(name, says) : warn(name, says);
}
