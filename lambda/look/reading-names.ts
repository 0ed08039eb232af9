/** What the readings of a look are called in errors: by the adapter that reads, and by the time limit. By port and call. */
import type { Coderd, Organization, ReadableEcs } from './ports.ts';

type Named = Pick<Organization, 'name'>;
type InCluster = Pick<ReadableEcs, 'cluster'>;

const of = ({ name }: Named): string => `of organization "${name}"`;

export const CODERD_READINGS = {
  buildInfo: 'reading the build info',
  organizations: 'listing organizations',
  jobs: (organization: Named) => `listing provisioner jobs ${of(organization)}`,
  daemons: (organization: Named) => `listing provisioner daemons ${of(organization)}`,
  jobsByIds: (organization: Named) => `reading previous jobs ${of(organization)}`,
} as const satisfies Partial<Record<keyof Coderd, unknown>>;

export const ECS_READINGS = {
  services: ({ cluster }: InCluster) => `listing services of cluster "${cluster}"`,
  tasks: ({ cluster }: InCluster) => `listing tasks of cluster "${cluster}"`,
  protections: ({ cluster }: InCluster) => `reading task protection in cluster "${cluster}"`,
} as const satisfies Partial<Record<keyof ReadableEcs, unknown>>;
