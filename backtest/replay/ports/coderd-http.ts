/**
 * Requests to the simulated coderd for the lists that the autoscaler reads every few minutes. The
 * long list of workspaces skips JSON.
 */
import type * as z from 'zod';
import type { Document } from '../../../lambda/adapters/coderd/http/http.ts';
import type { Workspace } from '../../../lambda/decision/model/snapshot.ts';
import type { CoderdModel } from '../../../simulator/coderd/model.ts';
import { type Call, InProcessCoderd } from '../../../simulator/coderd/routes/in-process.ts';
import type { BuildRecord, WorkspaceRecord } from '../../../simulator/coderd/tables/workspace-records.ts';

export class VirtualCoderd extends InProcessCoderd {
  readonly #workspaces: (query: Readonly<Record<string, string>>) => {
    readonly workspaces: readonly Workspace[];
    readonly count: number;
  };

  constructor(model: CoderdModel, call: Call) {
    super(model, call);
    this.#workspaces = ({ limit, offset }) => {
      const all = model.workspaces.all();
      const from = Number(offset);
      // coderd sorts differently, but here nothing changes between two pages
      const page = all.slice(from, from + Number(limit));
      return { workspaces: page.map((workspace) => this.#rowOf(workspace)), count: all.length };
    };
  }

  /** The row of a workspace. It is cached until one of its fields changes. */
  #rowOf(workspace: WorkspaceRecord): Workspace {
    const { latestBuild: build, nextStartAt, lastUsedAt, dormantAt, deletingAt, template } = workspace;
    const { activeVersion } = template;
    const known = this.#rows.get(workspace);
    if (
      known?.build === build &&
      known.activeVersion === activeVersion &&
      known.deadline === build.deadline &&
      known.nextStartAt === nextStartAt &&
      known.lastUsedAt === lastUsedAt &&
      known.dormantAt === dormantAt &&
      known.deletingAt === deletingAt
    )
      return known.row;
    const row = workspaceOf(workspace);
    const { deadline } = build;
    // the row of a running build changes with its job, so it is not cached
    const shown = { build, activeVersion, deadline, nextStartAt, lastUsedAt, dormantAt, deletingAt };
    if (build.job.completedAt !== undefined) this.#rows.set(workspace, { ...shown, row });
    return row;
  }

  readonly #rows = new WeakMap<WorkspaceRecord, Shown>();

  override get<T extends z.ZodType>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: T,
  ): Promise<Document<z.output<T>>> {
    if (path !== '/api/v2/workspaces') return super.get(path, query, schema);
    // the same values as the schema parses from JSON: test/backtest/ports.test.ts compares the
    // plans
    return this.getMade(() => this.#workspaces(query) as z.output<T>);
  }
}

/** A row, and the values that it was made from. */
type Shown = Pick<WorkspaceRecord, 'nextStartAt' | 'lastUsedAt' | 'dormantAt' | 'deletingAt'> & {
  readonly activeVersion: WorkspaceRecord['template']['activeVersion'];
  readonly build: BuildRecord;
  readonly deadline: BuildRecord['deadline'];
  readonly row: Workspace;
};

function workspaceOf(workspace: WorkspaceRecord): Workspace {
  const { latestBuild, template, owner } = workspace;
  return {
    id: workspace.id,
    organization_id: workspace.organizationId,
    template_id: template.id,
    name: workspace.name,
    owner_id: owner.id,
    owner_name: owner.username,
    automatic_updates: workspace.keepsVersion ? 'never' : 'always',
    template_require_active_version: template.requireActiveVersion,
    outdated: latestBuild.version !== template.activeVersion,
    is_prebuild: workspace.prebuilt,
    autostart_schedule: workspace.schedule,
    next_start_at: workspace.nextStartAt ?? null,
    last_used_at: workspace.lastUsedAt,
    dormant_at: workspace.dormantAt ?? null,
    deleting_at: workspace.deletingAt ?? null,
    latest_build: {
      created_at: latestBuild.createdAt,
      transition: latestBuild.transition,
      reason: latestBuild.reason,
      deadline: latestBuild.deadline ?? null,
      max_deadline: latestBuild.maxDeadline ?? null,
      initiator_id: latestBuild.job.initiatorId,
      template_version_preset_id: latestBuild.presetId ?? null,
      job: {
        id: latestBuild.job.id,
        status: latestBuild.job.status,
        created_at: latestBuild.job.createdAt,
        started_at: latestBuild.job.startedAt,
        completed_at: latestBuild.job.completedAt,
        tags: latestBuild.job.tags,
      },
    },
  };
}
