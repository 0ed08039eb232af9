import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { normalizeTags, type TagSet, type Tags, tagKey } from '../../../lambda/decision/model/tags.ts';
import { WEEKDAYS } from '../../../lambda/decision/model/zones.ts';
import type { Random } from '../../base/random.ts';
import { CoderdRefusal } from '../rules/refusal.ts';
import type { Weekday } from './autostart-schedule.ts';
import { NIL_UUID } from './keys.ts';
import type { Transition } from './transition.ts';

export type TemplateSettings = {
  readonly allowUserAutostart: boolean;
  /** On which days workspaces may be autostarted. */
  readonly autostartDays: readonly Weekday[];
  /** How long workspaces run that say nothing of it themselves; 0 = without end. */
  readonly defaultTtlMs: number;
  /** What activity adds to a deadline at the most; 0 = nothing. */
  readonly activityBumpMs: number;
  /**
   * How long a workspace runs at the most, whatever its users do; 0 = without end. coderd works it out from the template's
   * autostop requirement and its users' quiet hours; here it is a length.
   */
  readonly maxLifetimeMs: number;
  /** Whether starts take the active version, whatever the workspace says. */
  readonly requireActiveVersion: boolean;
  /** When a failed build is cleaned up; 0 = never. */
  readonly failureTtlMs: number;
  /** When an unused workspace becomes dormant; 0 = never. */
  readonly timeTilDormantMs: number;
  /** When a dormant workspace is deleted; 0 = never. */
  readonly timeTilDormantAutodeleteMs: number;
  /** Why no workspace should be made of it any more; '' = it is not deprecated. */
  readonly deprecated: string;
  /** How long builds take. */
  readonly buildMs: Readonly<Record<Transition, number>>;
};

export type NewTemplate = Partial<Omit<TemplateSettings, 'buildMs'>> & {
  readonly organization: string;
  /** @default `template-1`, … */
  readonly name?: string;
  /** Of the first version. @default none */
  readonly tags?: Tags;
  /** Its first version, of `importVersion`. @default one that is imported already */
  readonly version?: TemplateVersion;
  /** @default 1 min for a start, 20 s for a stop and a delete */
  readonly buildMs?: Partial<TemplateSettings['buildMs']>;
};

export type TemplateVersion = {
  readonly id: string;
  readonly name: string;
  readonly fileId: string;
  /** Those of its import job: what the autostart gate asks for, and what its builds get (docs/coder.md §10). */
  readonly tags: TagSet;
  readonly createdAt: EpochMs;
};

/** A version as it is uploaded. */
export type NewVersion = {
  readonly tags: Tags;
  /** @default at random */
  readonly name?: string;
  /** Files are known by their content: two versions can have the same. @default one of its own */
  readonly fileId?: string;
};

/** A template, live: a record taken earlier shows what has happened since. */
export type TemplateRecord = TemplateSettings & {
  readonly id: string;
  readonly name: string;
  readonly organizationId: OrganizationId;
  readonly createdAt: EpochMs;
  /** When its settings or its active version were changed last. */
  readonly updatedAt: EpochMs;
  /** Oldest first, the active one last. */
  readonly versions: readonly TemplateVersion[];
  readonly activeVersion: TemplateVersion;
};

type Template = TemplateRecord & {
  readonly versions: TemplateVersion[];
  deprecated: string;
  updatedAt: EpochMs;
};

const HOUR_MS = 3_600_000;

const DEFAULTS: TemplateSettings = {
  allowUserAutostart: true,
  autostartDays: WEEKDAYS,
  defaultTtlMs: 0,
  activityBumpMs: HOUR_MS,
  maxLifetimeMs: 0,
  requireActiveVersion: false,
  failureTtlMs: 0,
  timeTilDormantMs: 0,
  timeTilDormantAutodeleteMs: 0,
  deprecated: '',
  buildMs: { start: 60_000, stop: 20_000, delete: 20_000 },
};

/** The tables templates and template_versions. */
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
        if (last === undefined) throw new Error(`finding the active version of template ${this.id}: none`);
        return last;
      },
    };
  }

  /** What coderd shows of versions that belong to no template yet. */
  none(organizationId: OrganizationId, now: EpochMs): TemplateRecord {
    return this.#newTemplate(NIL_UUID, { organizationId, name: '' }, now);
  }

  /** Makes another version the active one. */
  activate(id: string, version: TemplateVersion, now: EpochMs): void {
    const template = this.#byId.get(id);
    if (template === undefined) throw new CoderdRefusal(404, `activating a version of template ${id}: none`);
    template.versions.push(version);
    template.updatedAt = now;
  }

  /** As an admin writes other settings. */
  change(id: string, settings: Partial<TemplateSettings>, now: EpochMs): void {
    const template = this.#byId.get(id);
    if (template === undefined) throw new CoderdRefusal(404, `changing template ${id}: none`);
    Object.assign(template, settings, { updatedAt: now });
  }

  /** Marks it as deprecated: its workspaces live on. */
  deprecate(id: string, message: string): void {
    const template = this.#byId.get(id);
    if (template === undefined) throw new CoderdRefusal(404, `deprecating template ${id}: none`);
    template.deprecated = message;
  }

  /** The template of jobs that were submitted with no more than these tags. */
  forJobs(organizationId: OrganizationId, tags: TagSet, now: EpochMs): TemplateRecord {
    const place = `${organizationId} ${tagKey(tags)}`;
    const template = this.#forJobs.get(place) ?? this.add({ organizationId, tags, now });
    this.#forJobs.set(place, template);
    return template;
  }

  /** Oldest first. */
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
