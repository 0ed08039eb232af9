/**
 * Reads the input of the forecast (docs/internals/coder.md §10): workspaces, templates and permissions in
 * parallel, then the tags of the active versions that workspaces use.
 */
import type { EpochMs, OrganizationId } from '../../../decision/model/brands.ts';
import type {
  BuildInfo,
  ForecastReadings,
  Reading,
  Template,
  Workspace,
} from '../../../decision/model/snapshot.ts';
import type { Organization } from '../../../look/ports.ts';
import { readingOfRows } from '../../shared/rows.ts';
import type { CoderdHttp } from '../http/http.ts';
import { failure, reading } from '../http/reading.ts';
import { type RefusalEvidence, type Refused, readEvidence, readRefused } from './permissions.ts';
import { isFulfilled, settleAll } from './settle-all.ts';
import { ActiveVersions, type ListedTemplate, listTemplates, type VersionTags } from './template-versions.ts';
import { type Listing, listWorkspaces } from './workspace-list.ts';

const ROLE =
  'the organization template admin role there, or a custom role with workspace:read and template:read';

/** Share of the budget for the lists. The rest is reserved for the tags that their rows need. */
const LISTS_SHARE = 0.8;

/** With 100 organizations, more would use up the connections that pages of workspaces need. */
const EVIDENCE_AT_ONCE = 4;

type Lists = {
  readonly workspaces: Reading<Workspace>;
  readonly templates: Reading<ListedTemplate>;
  readonly versions: VersionTags;
  readonly refused: Refused;
};

export class ForecastReading {
  readonly #http: CoderdHttp;
  readonly #budgetMs: number;
  readonly #versions: ActiveVersions;
  #templatesInUse: ReadonlySet<string> = new Set();
  #resumeAt = 0;

  /** `budgetMs` limits all requests of one reading together. */
  constructor(http: CoderdHttp, budgetMs: number) {
    this.#http = http;
    this.#budgetMs = budgetMs;
    this.#versions = new ActiveVersions(http);
  }

  /** Does not throw: each reading has a status. A list that came in part is `failed`, with that part. */
  async read(
    organizations: readonly Organization[],
    { now, build }: { readonly now: EpochMs; readonly build?: BuildInfo | undefined },
  ): Promise<ReadonlyMap<OrganizationId, ForecastReadings>> {
    const whole = AbortSignal.timeout(this.#budgetMs);
    const signal = AbortSignal.timeout(this.#budgetMs * LISTS_SHARE);
    const listing = { http: this.#http, signal, role: `the token's user needs ${ROLE}` };
    const [refused, { list: workspaces, resumeAt }, templates, evidence] = await Promise.all([
      readRefused(this.#http, organizations, signal),
      listWorkspaces(listing, { now, resumeAt: this.#resumeAt }),
      readTemplates(listing, now),
      readEvidenceOf(organizations, listing, build),
    ]);
    this.#resumeAt = resumeAt;
    const versions = await this.#readVersions(workspaces, templates, whole);
    const lists = { workspaces, templates, versions, refused };
    return new Map(
      organizations.map((organization, index) => [
        organization.id,
        { ...readingsOf(organization, lists), ...evidence[index] },
      ]),
    );
  }

  async #readVersions(
    workspaces: Reading<Workspace>,
    templates: Reading<Template>,
    signal: AbortSignal,
  ): Promise<VersionTags> {
    const listed = new Set(workspaces.items.map(({ template_id }) => template_id));
    // If workspaces are missing, the forecast uses earlier ones, which need their tags.
    this.#templatesInUse = workspaces.status === 'failed' ? listed.union(this.#templatesInUse) : listed;
    if (templates.status !== 'ok' && templates.leftOut === undefined)
      return { known: new Map(), failures: new Map() };
    const used = templates.items.filter(({ id }) => this.#templatesInUse.has(id));
    return this.#versions.read(new Set(used.map(({ active_version_id }) => active_version_id)), signal);
  }
}

async function readEvidenceOf(
  organizations: readonly Organization[],
  listing: Listing,
  build: BuildInfo | undefined,
): Promise<readonly RefusalEvidence[]> {
  const read = (organization: Organization) => readEvidence(listing, organization, build);
  const outcomes = await settleAll(organizations, EVIDENCE_AT_ONCE, read);
  return outcomes.map((outcome) => (isFulfilled(outcome) ? outcome.value : {}));
}

async function readTemplates(
  { http, signal, role }: Listing,
  now: EpochMs,
): Promise<Reading<ListedTemplate>> {
  const list = await reading({ what: 'listing templates', role }, () => listTemplates(http, signal));
  return list.items.length === 0 && list.status !== 'ok' ? list : { takenAt: now, ...list };
}

/** Derives the readings of one organization from the lists of all organizations. */
function readingsOf(organization: Organization, lists: Lists): ForecastReadings {
  const { workspaces, templates, versions, refused } = lists;
  const hasTemplates = !refused('template', organization.id);
  const ownTemplates = ownPart('listing templates', templates, organization);
  const own = hasTemplates ? ownTemplates.items : [];
  const ownWorkspaces = ownPart('listing workspaces', workspaces, organization);
  const tags = own.flatMap(({ id, active_version_id }) => {
    const known = versions.known.get(active_version_id);
    return known === undefined ? [] : [[id, known] as const];
  });
  return {
    workspaces: refused('workspace', organization.id) ? forbidden('workspaces', organization) : ownWorkspaces,
    templates: hasTemplates
      ? {
          ...ownTemplates,
          ...(ownTemplates.status === 'ok'
            ? (unlisted(ownWorkspaces.items, own) ?? unreadVersion(own, versions))
            : {}),
        }
      : forbidden('templates', organization),
    activeVersionTags: Object.fromEntries(tags),
  };
}

/** A row that was left out concerns its organization; all, if nothing tells which one that is. */
function ownPart<T extends Workspace | Template>(
  what: string,
  { leftOut, ...reading }: Reading<T>,
  { id }: Organization,
): Reading<T> {
  const items = reading.items.filter(({ organization_id }) => organization_id === id);
  if (leftOut === undefined) return { ...reading, items };
  const own = leftOut.filter(({ of }) => of === undefined || of === id);
  return { takenAt: reading.takenAt, ...readingOfRows(what, { items, leftOut: own }) };
}

type Truncation = Pick<Reading<Template>, 'status' | 'error'> | undefined;

/** The list counts as truncated if a workspace has a template that is not in it. */
function unlisted(workspaces: readonly Workspace[], templates: readonly Template[]): Truncation {
  const listed = new Set(templates.map(({ id }) => id));
  const lost = workspaces.filter(({ template_id }) => !listed.has(template_id));
  const [first] = lost;
  if (first === undefined) return undefined;
  const have = lost.length === 1 ? '1 workspace has a template' : `${lost.length} workspaces have templates`;
  const error = `listing templates: ${have} that coderd does not list, such as ${first.template_id}. The token's user needs ${ROLE}`;
  return { status: 'truncated', error };
}

/** The list counts as truncated if the tags of an active version are missing: its forecast is unknown. */
function unreadVersion(templates: readonly ListedTemplate[], { failures }: VersionTags): Truncation {
  const unread = templates.filter(({ active_version_id }) => failures.has(active_version_id));
  const [first] = unread;
  if (first === undefined) return undefined;
  const what = `reading the active version of template "${first.name}"`;
  const { error } = failure(
    { what, role: `the token's user needs ${ROLE}` },
    failures.get(first.active_version_id),
  );
  const others = unread.length > 1 ? `; and of ${unread.length - 1} more` : '';
  return { status: 'truncated', error: `${error}${others}` };
}

function forbidden(listed: string, { name }: Organization): Reading<never> {
  const error = `listing ${listed} of organization "${name}": coderd does not let the token's user read them; the user needs ${ROLE}`;
  return { status: 'forbidden', error, items: [] };
}
