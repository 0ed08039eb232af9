/** Draws workspaces and templates with coming transitions as documents. */
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import { aTemplate, aWorkspace, NOW, SECOND } from './parts.ts';
import type { ReadingDocument } from './reading-document.ts';

export type WorkspacesPicture = {
  /** The tags of the active version of their template. Each tag set has one template. */
  readonly tags?: Tags;
  readonly count?: number;
  /** Seconds until coderd's autostart; negative: overdue. */
  readonly startsInS?: number;
  /** The workspaces run. Seconds until coderd's autostop; negative: overdue. */
  readonly stopsInS?: number;
  readonly organization?: string;
};

export type ForecastDocument = {
  readonly workspaces: ReadingDocument;
  readonly templates: ReadingDocument;
  readonly activeVersionTags: Record<string, Tags>;
};

/** The forecast of an organization that has these workspaces. */
export function drawForecast(id: string, pictures: readonly WorkspacesPicture[]): ForecastDocument {
  const organization_id = id as OrganizationId;
  const activeVersionTags = Object.fromEntries(
    pictures.map(({ tags }) => [templateOf(id, tags), { scope: 'organization', owner: '', ...tags }]),
  );
  const templates = Object.keys(activeVersionTags).map((template) =>
    aTemplate({ id: template, organization_id, active_version_id: `version-of-${template}` }),
  );
  return {
    workspaces: readNow(pictures.flatMap((picture, row) => drawWorkspaces(row, picture, organization_id))),
    templates: readNow(templates),
    activeVersionTags,
  };
}

function drawWorkspaces(
  row: number,
  { tags, count = 1, startsInS, stopsInS }: WorkspacesPicture,
  organization_id: OrganizationId,
) {
  return Array.from({ length: count }, (_, index) =>
    aWorkspace({
      id: `workspace-${organization_id}-${row}-${index}`,
      organization_id,
      template_id: templateOf(organization_id, tags),
      ...(startsInS === undefined ? {} : { next_start_at: inSeconds(startsInS) }),
      ...(stopsInS === undefined
        ? {}
        : { latest_build: { transition: 'start', deadline: inSeconds(stopsInS) } }),
    }),
  );
}

const inSeconds = (seconds: number): EpochMs => (NOW + seconds * SECOND) as EpochMs;

const templateOf = (organization: string, tags: Tags = {}): string =>
  ['template', organization, ...Object.entries(tags).sort()].join('-');

function readNow(items: readonly object[]): ReadingDocument {
  return { status: 'ok', takenAt: new Date(NOW).toISOString(), items: items.map(withTexts) };
}

/** Times as the document has them. */
function withTexts(item: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(item), (name, value: unknown) =>
    typeof value === 'number' && /(?:_at|deadline)$/.test(name) ? new Date(value).toISOString() : value,
  );
}
