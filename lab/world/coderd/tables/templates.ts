import type { EpochMs, OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import { normalizeTags, type TagSet, type Tags, tagKey } from '../../../../lambda/decision/model/tags.ts';
import { HOUR_MS } from '../../../../lambda/decision/model/units.ts';
import { WEEKDAYS } from '../../../../lambda/decision/model/zones.ts';
import type { Random } from '../../base/random.ts';
import { SimulatorError } from '../../base/simulator-error.ts';
import { CoderdRefusal } from '../rules/refusal.ts';
import { NIL_UUID } from './keys.ts';

export type Weekday = (typeof WEEKDAYS)[number];

export type Transition = 'start' | 'stop' | 'delete';

export type TemplateSettings = {
  readonly autostartDays: readonly Weekday[];
  /** How long workspaces run without a TTL of their own; 0 = without end. */
  readonly defaultTtlMs: number;
  /** The most that activity adds to a deadline; 0 = nothing. */
  readonly activityBumpMs: number;
  /** Whether starts use the active version, whatever the workspace is set to. */
  readonly requireActiveVersion: boolean;
  /** The time after which a failed build is cleaned up; 0 = never. */
  readonly failureTtlMs: number;
  /** The time after which an unused workspace becomes dormant; 0 = never. */
  readonly timeTilDormantMs: number;
  /** The time after which a dormant workspace is deleted; 0 = never. */
  readonly timeTilDormantAutodeleteMs: number;
  /** The message of a deprecated template; '' = not deprecated. */
  readonly deprecated: string;
  readonly buildMs: Readonly<Record<Transition, number>>;
};

export type NewTemplate = Partial<Omit<TemplateSettings, 'buildMs'>> & {
  readonly organization: string;
  /** @default `template-1`, … */
  readonly name?: string;
  /** Tags of the first version. @default none */
  readonly tags?: Tags;
  /** Its first version, from `importVersion`. @default one that is already imported */
  readonly version?: TemplateVersion;
  /** @default 1 min for a start, 20 s for a stop and a delete */
  readonly buildMs?: Partial<TemplateSettings['buildMs']>;
};

export type TemplateVersion = {
  readonly id: string;
  readonly name: string;
  readonly fileId: string;
  /** Of its import job, for the autostart gate and its builds (docs/internals/coder.md §10). */
  readonly tags: TagSet;
  readonly createdAt: EpochMs;
};

export type NewVersion = {
  readonly tags: Tags;
  /** @default at random */
  readonly name?: string;
  /** The id of its file. Versions with the same content have the same file. @default a new one */
  readonly fileId?: string;
};

/** A template. The record is live: it changes with the template. */
export type TemplateRecord = TemplateSettings & {
  readonly id: string;
  readonly name: string;
  readonly organizationId: OrganizationId;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  /** Oldest first, the active one last. */
  readonly versions: readonly TemplateVersion[];
  readonly activeVersion: TemplateVersion;
};

type Template = TemplateRecord & { readonly versions: TemplateVersion[] };

const DEFAULTS: TemplateSettings = {
  autostartDays: WEEKDAYS,
  defaultTtlMs: 0,
  activityBumpMs: HOUR_MS,
  requireActiveVersion: false,
  failureTtlMs: 0,
  timeTilDormantMs: 0,
  timeTilDormantAutodeleteMs: 0,
  deprecated: '',
  buildMs: { start: 60_000, stop: 20_000, delete: 20_000 },
};

export class TemplateTable {
  readonly #byId = new Map<string, Template>();
  readonly #forJobs = new Map<string, TemplateRecord>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  add(
    template: Omit<NewTemplate, 'organization' | 'tags'> & {
      readonly organizationId: OrganizationId;
      readonly tags: Tags;
      readonly now: EpochMs;
    },
  ): TemplateRecord {
    const { tags, now, version = this.newVersion({ tags }, now), ...settings } = template;
    const added = this.#newTemplate(this.#random.uuid(), settings, now);
    added.versions.push(version);
    this.#byId.set(added.id, added);
    return added;
  }

  #newTemplate(
    id: string,
    settings: Omit<NewTemplate, 'organization' | 'tags' | 'version'> & {
      readonly organizationId: OrganizationId;
    },
    now: EpochMs,
  ): Template {
    const versions: TemplateVersion[] = [];
    return {
      ...DEFAULTS,
      ...settings,
      buildMs: { ...DEFAULTS.buildMs, ...settings.buildMs },
      id,
      name: settings.name ?? `template-${this.#byId.size + 1}`,
      createdAt: now,
      updatedAt: now,
      versions,
      get activeVersion() {
        const last = versions.at(-1);
        if (last === undefined)
          throw new SimulatorError(`finding the active version of template ${this.id}: it has no version`);
        return last;
      },
    };
  }

  /** What coderd shows for versions that have no template yet. */
  none(organizationId: OrganizationId, now: EpochMs): TemplateRecord {
    return this.#newTemplate(NIL_UUID, { organizationId, name: '' }, now);
  }

  activate(id: string, version: TemplateVersion, now: EpochMs): void {
    this.change(id, {}, now).versions.push(version);
  }

  /** @throws CoderdRefusal 404 unknown template */
  change(id: string, settings: Partial<TemplateSettings>, now: EpochMs): Template {
    const template = this.#byId.get(id);
    if (template === undefined) throw new CoderdRefusal(404, `changing template ${id}: there is none`);
    return Object.assign(template, settings, { updatedAt: now });
  }

  /** The template of jobs that were submitted with nothing but these tags. */
  forJobs(organizationId: OrganizationId, tags: TagSet, now: EpochMs): TemplateRecord {
    const place = `${organizationId} ${tagKey(tags)}`;
    const template = this.#forJobs.get(place) ?? this.add({ organizationId, tags, now });
    this.#forJobs.set(place, template);
    return template;
  }

  all(): readonly TemplateRecord[] {
    return [...this.#byId.values()];
  }

  newVersion({ tags, name, fileId }: NewVersion, createdAt: EpochMs): TemplateVersion {
    const random = this.#random;
    return {
      id: random.uuid(),
      name: name ?? `version-${random.hex(8)}`,
      fileId: fileId ?? random.uuid(),
      tags: normalizeTags(tags),
      createdAt,
    };
  }
}
