/** Generates templates as coderd lists them (docs/internals/coder.md §10). */

import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import type { Random } from '../../simulator/base/random.ts';
import type { TagGroup } from './jobs.ts';
import { TEMPLATE } from './response-padding.ts';

export type FleetTemplate = {
  readonly organization: string;
  readonly listed: ReturnType<typeof makeListed>;
  /** `GET /api/v2/templateversions/{id}`. */
  readonly activeVersion: ReturnType<typeof makeVersion>;
};

const DAY_MS = 86_400_000;
const WORKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'];
const ALL_DAYS = [...WORKDAYS, 'saturday', 'sunday'];

/**
 * One template with these tags. Dormancy and allowed days differ between templates, as in real
 * deployments.
 */
export function makeTemplate(
  { organization, tags }: TagGroup,
  organizationId: string,
  random: Random,
): FleetTemplate {
  const listed = makeListed(organizationId, random);
  return {
    organization,
    listed,
    activeVersion: makeVersion(listed.active_version_id, tags, random),
  };
}

function makeListed(organizationId: string, random: Random) {
  const isTidy = random.next() < 0.3;
  return {
    ...TEMPLATE,
    id: random.uuid(),
    organization_id: organizationId,
    active_version_id: random.uuid(),
    allow_user_autostart: random.next() < 0.95,
    autostart_requirement: { days_of_week: random.next() < 0.2 ? WORKDAYS : ALL_DAYS },
    failure_ttl_ms: random.next() < 0.2 ? DAY_MS : 0,
    time_til_dormant_ms: isTidy ? 30 * DAY_MS : 0,
    time_til_dormant_autodelete_ms: isTidy ? 60 * DAY_MS : 0,
  };
}

function makeVersion(id: string, tags: TagGroup['tags'], random: Random) {
  return {
    id,
    name: 'wonderful_albattani1',
    message: '',
    job: {
      id: random.uuid(),
      status: 'succeeded',
      type: 'template_version_import',
      tags: normalizeTags(tags),
    },
    readme: '# Kubernetes\n\nProvisions a Deployment with one pod for each workspace.\n'.repeat(20),
    archived: false,
  };
}
