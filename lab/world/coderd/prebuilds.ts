/**
 * coderd's reconciler of prebuilt workspaces (docs/internals/coder.md §10, "Prebuilt workspaces"), of enterprise
 * coderd: it makes those that are missing. A preset is one of one template version. What coderd does with presets
 * that fail, and with those of earlier versions, is not simulated.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { PREBUILDS_USER } from './tables/jobs.ts';
import type { TemplateRecord, TemplateVersion } from './tables/templates.ts';
import type { UserRecord } from './tables/users.ts';
import type { WorkspaceRecord } from './tables/workspace-records.ts';
import type { WorkspaceTable } from './tables/workspaces.ts';

export type NewPreset = { readonly template: TemplateRecord; readonly instances: number };

/** A preset of the version that was active when it was added. */
type Preset = NewPreset & { readonly id: string; readonly version: TemplateVersion };

/** RECONCILIATION_INTERVAL since 2.25. */
export const RECONCILE_EVERY_MS = 60_000;

const LIVE: ReadonlySet<string> = new Set(['pending', 'running', 'succeeded']);

export class Prebuilds {
  readonly #workspaces: WorkspaceTable;
  readonly #presets: Preset[] = [];
  /** The owner of prebuilt workspaces. A system user is in no list of users. */
  readonly #user: UserRecord;

  constructor(workspaces: WorkspaceTable, now: EpochMs) {
    this.#workspaces = workspaces;
    const times = { createdAt: now, updatedAt: now };
    this.#user = { id: PREBUILDS_USER, username: 'prebuilds', status: 'active', ...times };
  }

  add(preset: NewPreset, id: string): void {
    this.#presets.push({ ...preset, id, version: preset.template.activeVersion });
  }

  reconcile(): void {
    for (const preset of this.#presets) if (isActive(preset)) this.#fill(preset);
  }

  #fill({ id: presetId, template, instances }: Preset): void {
    const own = this.#workspaces.all().filter((workspace) => isLivePrebuild(workspace, presetId));
    for (let count = own.length; count < instances; count++)
      this.#workspaces.create({ template, owner: this.#user, prebuilt: true, presetId });
  }
}

function isActive({ template, version }: Preset): boolean {
  return template.activeVersion === version;
}

function isLivePrebuild({ prebuilt, latestBuild }: WorkspaceRecord, presetId: string): boolean {
  const { transition, job } = latestBuild;
  return prebuilt && latestBuild.presetId === presetId && transition === 'start' && LIVE.has(job.status);
}
