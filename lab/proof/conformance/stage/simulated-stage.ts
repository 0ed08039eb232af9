/** The story on the simulated coderd: reads over HTTP, changes in its model. Time moves when it waits. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EpochMs, plusMs } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { DAY_MS } from '../../../../lambda/decision/model/units.ts';
import type { JobRunner } from '../../../world/base/job-runner.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel } from '../../../world/coderd/model.ts';
import { coderdHandler } from '../../../world/coderd/routes/http.ts';
import { CoderdRefusal } from '../../../world/coderd/rules/refusal.ts';
import type { TemplateRecord, TemplateVersion, Transition } from '../../../world/coderd/tables/templates.ts';
import type { UserRecord, UserStatus } from '../../../world/coderd/tables/users.ts';
import type { WorkspaceRecord } from '../../../world/coderd/tables/workspace-records.ts';
import { ConformanceError } from './question.ts';
import {
  type NewTemplate,
  type NewUser,
  type NewVersion,
  type NewWorkspace,
  type Role,
  type Script,
  Stage,
  type StageOutcome,
  type Tick,
} from './stage.ts';

const START = Date.parse('2026-11-20T09:00:30Z') as EpochMs;
/** The lifecycle executor runs only when the story calls it. */
const NEVER_MS = 1e12;

type Version = { readonly given: NewVersion; readonly version: TemplateVersion };

export class SimulatedStage extends Stage {
  protected readonly timeoutMs = 120_000;
  readonly #timeline = new Timeline(START);
  readonly #model: CoderdModel;
  readonly #server: Server;
  readonly #users = new Map<string, UserRecord>();
  readonly #versions = new Map<string, Version>();
  readonly #templates = new Map<string, TemplateRecord>();
  readonly #workspaces = new Map<string, WorkspaceRecord>();
  readonly #daemons = new Map<string, JobRunner>();
  readonly #files = new Map<string, string>();
  readonly #random = new Random(7);

  private constructor(release: string) {
    super(release, START);
    this.#model = new CoderdModel({
      timeline: this.#timeline,
      random: new Random(1),
      organizations: ['coder'],
      version: release,
      autobuildPollMs: NEVER_MS,
    });
    this.#model.licence = 'open-source';
    this.#server = createServer(coderdHandler(this.#model));
  }

  /** A simulated coderd of that release, served on loopback until `close`. */
  static async at(release: string): Promise<SimulatedStage> {
    const stage = new SimulatedStage(release);
    await new Promise<void>((resolve) => stage.#server.listen(0, '127.0.0.1', resolve));
    stage.#begin();
    return stage;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  now(): EpochMs {
    return this.#timeline.now();
  }

  async addUser({ name, role, status }: NewUser): Promise<void> {
    const added = this.#model.addUser({ username: name, status });
    this.#users.set(name, added);
    this.names.set(name, added.id);
    this.#giveToken(name, role, added);
  }

  async setUserStatus(name: string, status: UserStatus): Promise<void> {
    this.#model.setUserStatus(known(this.#users, name), status);
  }

  importVersion(given: NewVersion): Promise<StageOutcome> {
    return outcomeOf(() => {
      const { parameter, script, name, template, tags } = given;
      const own = parameter === undefined ? {} : { [parameter.name]: parameter.value };
      const version = this.#model.importVersion({
        organization: 'coder',
        name,
        tags: { ...tags, ...own },
        durationMs: script?.import?.ms ?? 0,
        willFail: script?.import?.fails ?? false,
        fileId: this.#fileOf(given),
        ...(template === undefined ? {} : { template: known(this.#templates, template) }),
      });
      this.#versions.set(name, { given, version });
      this.names.set(name, version.id);
      this.nameJob(`import of ${name}`, {
        id: this.#model.importOf(version)?.id ?? '',
        fileId: version.fileId,
      });
    });
  }

  cancelImport(version: string): Promise<StageOutcome> {
    return outcomeOf(() => {
      const job = this.#model.importOf(known(this.#versions, version).version);
      if (job !== undefined) this.#model.cancelJob(job.id);
    });
  }

  addTemplate({ name, version: first }: NewTemplate): Promise<StageOutcome> {
    return outcomeOf(() => {
      const { given, version } = known(this.#versions, first);
      const template = this.#model.addTemplate({
        organization: 'coder',
        name,
        version,
        buildMs: buildMsOf(given.script),
      });
      this.#templates.set(name, template);
      this.names.set(name, template.id);
    });
  }

  activate(template: string, version: string): Promise<StageOutcome> {
    return outcomeOf(() =>
      this.#model.activate(known(this.#templates, template), known(this.#versions, version).version),
    );
  }

  addWorkspace(given: NewWorkspace): Promise<StageOutcome> {
    return outcomeOf(() => {
      const { name, owner, by = owner, schedule, ttlMs, parameters } = given;
      const template = known(this.#templates, given.template);
      const script = this.#scriptOf(template);
      const workspace = this.#model.workspaces.create({
        name,
        template,
        owner: known(this.#users, owner),
        initiator: known(this.#users, by),
        ...(schedule === undefined ? {} : { schedule }),
        ...(ttlMs === undefined ? {} : { ttlMs }),
        ...(parameters === undefined ? {} : { ownTags: parameters }),
        willFail: script?.start?.fails ?? false,
        keepsVersion: true,
      });
      this.#workspaces.set(name, workspace);
      this.names.set(name, workspace.id);
      this.#nameBuild(name, workspace);
    });
  }

  build(name: string, transition: Transition): Promise<StageOutcome> {
    return outcomeOf(() => {
      const workspace = known(this.#workspaces, name);
      const willFail = this.#scriptOf(workspace.template)?.[transition]?.fails ?? false;
      this.#model.build(workspace, transition, { willFail });
      this.#nameBuild(name, workspace);
    });
  }

  cancelBuild(name: string): Promise<StageOutcome> {
    return outcomeOf(() => this.#model.cancelJob(known(this.#workspaces, name).latestBuild.job.id));
  }

  setSchedule(name: string, schedule: string | undefined): Promise<StageOutcome> {
    return outcomeOf(() => this.#model.workspaces.setSchedule(known(this.#workspaces, name).id, schedule));
  }

  setTtl(name: string, ttlMs: number): Promise<StageOutcome> {
    return outcomeOf(() => this.#model.workspaces.setTtl(known(this.#workspaces, name).id, ttlMs));
  }

  async startDaemon(name: string, tags: Tags): Promise<void> {
    const daemon = this.#model.startBuiltInDaemon(name, tags);
    this.#daemons.set(name, daemon);
    this.names.set(`daemon ${name}`, daemon.id);
  }

  async stopDaemon(name: string, how: 'terminate' | 'kill'): Promise<void> {
    const daemon = known(this.#daemons, name);
    if (how === 'kill') daemon.kill();
    else daemon.terminate();
    await this.until(`daemon ${name} is gone`, async () => daemon.isGone);
  }

  async tick(at: EpochMs): Promise<Tick> {
    const before = new Map([...this.#workspaces].map(([name, { latestBuild }]) => [name, latestBuild]));
    this.#model.tick(at);
    const built = [...this.#workspaces].filter(([name, { latestBuild }]) => latestBuild !== before.get(name));
    for (const [name, workspace] of built) this.#nameBuild(name, workspace);
    const transitions = built.map(([, { id, latestBuild }]) => [id, latestBuild.transition]);
    return { transitions: Object.fromEntries(transitions), errors: {} };
  }

  async setLastSeen(name: string, at: EpochMs): Promise<void> {
    this.#model.setLastSeen(known(this.#daemons, name).id, at);
  }

  async forgetNextStart(name: string): Promise<void> {
    this.#model.workspaces.forgetNextStart(known(this.#workspaces, name).id);
  }

  async pass(ms: number): Promise<void> {
    this.#timeline.advanceTo(plusMs(this.now(), ms));
  }

  protected get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #begin(): void {
    const first = this.#model.user(this.#model.userId);
    if (first === undefined)
      throw new ConformanceError('playing the story: the simulated coderd has no first user');
    this.#users.set('first', first);
    this.names.set('first', first.id);
    this.names.set('organization', this.#model.organizationId('coder'));
    this.names.set('url', this.url);
    this.names.set('version', this.#model.version.text);
    this.#giveToken('first', 'owner', first);
  }

  #giveToken(name: string, role: Role, user: UserRecord): void {
    const canRead = role === 'owner' || role === 'organization-template-admin' ? 'all' : [];
    const canReadWorkspaces = role === 'template-admin' ? [] : canRead;
    const isOwner = role === 'owner';
    const lifetimeMs = DAY_MS;
    const canReadMembers = this.#model.version.does('letsMembersReadMembers') ? 'all' : canRead;
    const rights = { canRead, canReadWorkspaces, canReadMembers, isOwner } as const;
    this.addToken(name, this.#model.addToken({ ...rights, user, lifetimeMs }));
  }

  /** The id of a version's file: the same content has the same id. */
  #fileOf({ script = {}, parameter }: NewVersion): string {
    const content = JSON.stringify([script, parameter]);
    const id = this.#files.get(content) ?? this.#random.uuid();
    this.#files.set(content, id);
    return id;
  }

  #scriptOf(template: TemplateRecord): Script | undefined {
    return this.#versions.values().find(({ version }) => version === template.activeVersion)?.given.script;
  }

  #nameBuild(name: string, { latestBuild, template }: WorkspaceRecord): void {
    const { id, number, job } = latestBuild;
    this.nameBuild(name, { id, number, job: { id: job.id, fileId: template.activeVersion.fileId } });
  }
}

function known<T>(things: ReadonlyMap<string, T>, name: string): T {
  const found = things.get(name);
  if (found === undefined)
    throw new ConformanceError(`playing the story: nothing has the name "${name}"; check the earlier steps`);
  return found;
}

async function outcomeOf(change: () => void): Promise<StageOutcome> {
  try {
    change();
    return 'done';
  } catch (cause) {
    if (!(cause instanceof CoderdRefusal)) throw cause;
    return { status: cause.status, message: cause.message };
  }
}

function buildMsOf(script: Script = {}) {
  const { start, stop, delete: remove } = script;
  return { start: start?.ms ?? 0, stop: stop?.ms ?? 0, delete: remove?.ms ?? 0 };
}
