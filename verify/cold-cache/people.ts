/** People who build at working hours, each time another workspace. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Random } from '../../simulator/base/random.ts';
import type { CoderdModel } from '../../simulator/coderd/model.ts';
import type { TemplateRecord } from '../../simulator/coderd/tables/templates.ts';
import type { WorkspaceRecord } from '../../simulator/coderd/tables/workspace-records.ts';
import { type ColdWorldOptions, ORGANIZATION } from './options.ts';

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
const BUILD_MS = 60_000;
const WORKSPACES = 40;
const HOURS = { from: 8, to: 18 };
/** Shares of the builds. */
const DELETED = 0.05;
const PUSHED = 0.01;

export class People {
  readonly #model: CoderdModel;
  readonly #random: Random;
  readonly #options: ColdWorldOptions;
  readonly #templates: readonly TemplateRecord[];
  readonly #workspaces: WorkspaceRecord[];

  constructor(model: CoderdModel, random: Random, options: ColdWorldOptions) {
    this.#model = model;
    this.#random = random;
    this.#options = options;
    const buildMs = { start: BUILD_MS, stop: BUILD_MS, delete: BUILD_MS };
    this.#templates = Object.entries(options.templates).map(([name, init]) =>
      model.addTemplate({ organization: ORGANIZATION, name, init, buildMs }),
    );
    this.#workspaces = Array.from({ length: WORKSPACES }, (_, n) => this.#workspace(n));
  }

  /** When the next build is submitted: at random, with nights without builds. */
  next(after: EpochMs): EpochMs {
    const meanMs = ((HOURS.to - HOURS.from) * 60 * MINUTE_MS) / this.#options.buildsPerDay;
    const at = after - meanMs * Math.log(1 - this.#random.next());
    const hour = new Date(at).getUTCHours();
    if (hour >= HOURS.from && hour < HOURS.to) return Math.round(at) as EpochMs;
    const day = Math.floor(at / DAY_MS) + Number(hour >= HOURS.to);
    return Math.round(day * DAY_MS + HOURS.from * 60 * MINUTE_MS + meanMs * this.#random.next()) as EpochMs;
  }

  build(): void {
    const index = this.#random.whole(0, WORKSPACES - 1);
    const workspace = this.#workspaces[index];
    if (workspace === undefined || workspace.latestBuild.job.completedAt === undefined) return;
    const { failing = 0.02, dryRuns = 0 } = this.#options;
    const { template, latestBuild } = workspace;
    if (this.#random.next() < dryRuns) this.#dryRun(template);
    if (this.#random.next() < PUSHED) this.#model.pushVersion(template, {});
    const isDeleted = this.#random.next() < DELETED;
    const transition = isDeleted ? 'delete' : latestBuild.transition === 'start' ? 'stop' : 'start';
    this.#model.build(workspace, transition, { willFail: !isDeleted && this.#random.next() < failing });
    if (isDeleted) this.#workspaces[index] = this.#workspace(index);
  }

  /** With another template for each, in turn. */
  #workspace(index: number): WorkspaceRecord {
    const template = this.#templates[index % this.#templates.length];
    if (template === undefined) throw new RangeError('adding a workspace: the world has no template');
    return this.#model.workspaces.add({ template });
  }

  /** `coder create` tries a version before it builds it. */
  #dryRun(template: TemplateRecord): void {
    const job = { organization: ORGANIZATION, tags: {}, durationMs: BUILD_MS, template };
    this.#model.submitJob({ ...job, type: 'template_version_dry_run' });
  }
}
