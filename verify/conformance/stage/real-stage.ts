/**
 * Plays the story on a real coderd. Its control port starts daemons and runs the lifecycle
 * executor.
 */
import { CoderdHttp } from '../../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../../lambda/adapters/shared/secret.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import type { UserStatus } from '../../../simulator/coderd/tables/users.ts';
import { askCoderd, pathOf, send } from './ask.ts';
import { ConformanceError } from './conformance-error.ts';
import { ControlPort } from './control-port.ts';
import { Names } from './names.ts';
import type { Answer, NewVersion, NewWorkspace, Question, Role, Stage, StageOutcome, Tick } from './stage.ts';
import { type TemplateContent, templateArchive } from './template-archive.ts';
import type { Transition } from '../../../simulator/coderd/tables/templates.ts';

export type RealStageOptions = {
  readonly url: string;
  readonly control: string;
  /** A session token of an owner, the first user. */
  readonly token: string;
};

/** A request that changes something. */
type WriteRequest = {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly as?: string;
  readonly type?: string;
};

const TIMEOUT_MS = 20_000;
const POLL_MS = 100;
const PASSWORD = 'Only-for-the-story-1!';
const SITE_ROLES: readonly Role[] = ['owner', 'template-admin'];

export class RealStage implements Stage {
  readonly version: string;
  readonly names: Names;
  /** Number of requests to the public API so far. */
  calls = 0;
  readonly #options: RealStageOptions;
  readonly #control: ControlPort;
  readonly #tokens = new Map<string, string>();
  /** The user who asks for the builds of each workspace. */
  readonly #askers = new Map<string, string>();

  private constructor(options: RealStageOptions, version: string) {
    this.version = version;
    this.#options = options;
    this.#control = new ControlPort(options.control);
    this.names = new Names(Date.now());
    this.names.set('url', options.url);
    this.names.set('version', version);
    this.#tokens.set('first', options.token);
  }

  static async at(options: RealStageOptions): Promise<RealStage> {
    const stage = new RealStage(options, await versionOf(options.url));
    const { status, body } = await stage.ask({ path: '/users/me' });
    if (status !== 200)
      throw new ConformanceError(
        `signing in at ${options.url}: ${status} ${JSON.stringify(body)}; check the token`,
      );
    const me = idsOf(body);
    stage.names.set('first', me.id);
    stage.names.set('organization', me.organization_ids?.[0] ?? '');
    return stage;
  }

  now(): EpochMs {
    return Date.now() as EpochMs;
  }

  ask(question: Question): Promise<Answer> {
    const { as = 'first' } = question;
    this.calls += 1;
    return askCoderd({ url: this.#options.url, names: this.names, token: this.#tokenOf(as) }, question);
  }

  http(as: string): CoderdHttp {
    const token = this.#tokens.get(as) ?? '';
    return new CoderdHttp({ url: this.#options.url, token: { read: async () => new Secret(token) } });
  }

  async addUser(user: { readonly name: string; readonly role: Role; readonly status: UserStatus }) {
    const { name, role, status } = user;
    const organization = this.names.wordFor('organization');
    const made = await this.#must({
      method: 'POST',
      path: '/users',
      body: {
        email: `${name}@example.com`,
        username: name,
        password: PASSWORD,
        organization_ids: [organization],
        user_status: status === 'dormant' ? 'dormant' : 'active',
      },
    });
    this.names.set(name, made.id);
    if (SITE_ROLES.includes(role))
      await this.#must({ method: 'PUT', path: `/users/{${name}}/roles`, body: { roles: [role] } });
    if (role === 'organization-template-admin')
      await this.#must({
        method: 'PUT',
        path: `/organizations/{organization}/members/{${name}}/roles`,
        body: { roles: [role] },
      });
    const lifetime = 24 * 3_600_000 * 1e6;
    const path = `/users/{${name}}/keys/tokens`;
    const key = await this.#must({ method: 'POST', path, body: { lifetime, token_name: 'story' } });
    this.#tokens.set(name, key.key);
    this.names.set(`key of ${name}`, key.key.split('-')[0] ?? '');
    if (status === 'suspended') await this.setUserStatus(name, 'suspended');
  }

  async setUserStatus(name: string, status: UserStatus): Promise<void> {
    const verb = status === 'suspended' ? 'suspend' : 'activate';
    await this.#must({ method: 'PUT', path: `/users/{${name}}/status/${verb}`, body: undefined });
  }

  async importVersion(version: NewVersion): Promise<StageOutcome> {
    const archive = await templateArchive(contentOf(version));
    const file = await this.#must({
      method: 'POST',
      path: '/files',
      body: archive,
      type: 'application/x-tar',
    });
    const template =
      version.template === undefined ? {} : { template_id: this.names.wordFor(version.template) };
    return this.#do(
      {
        method: 'POST',
        path: '/organizations/{organization}/templateversions',
        body: {
          name: version.name,
          storage_method: 'file',
          file_id: file.hash,
          provisioner: 'terraform',
          tags: version.tags,
          ...template,
        },
      },
      (made) => {
        this.names.set(version.name, made.id);
        if (made.job !== undefined) this.#nameJob(`import of ${version.name}`, made.job);
      },
    );
  }

  cancelImport(version: string): Promise<StageOutcome> {
    return this.#do({ method: 'PATCH', path: `/templateversions/{${version}}/cancel`, body: undefined });
  }

  addTemplate({ name, version }: { readonly name: string; readonly version: string }): Promise<StageOutcome> {
    return this.#do(
      {
        method: 'POST',
        path: '/organizations/{organization}/templates',
        body: { name, template_version_id: this.names.wordFor(version) },
      },
      (made) => this.names.set(name, made.id),
    );
  }

  activate(template: string, version: string): Promise<StageOutcome> {
    const body = { id: this.names.wordFor(version) };
    return this.#do({ method: 'PATCH', path: `/templates/{${template}}/versions`, body });
  }

  addWorkspace(workspace: NewWorkspace): Promise<StageOutcome> {
    const { name, template, owner, by = owner, schedule, ttlMs, parameters } = workspace;
    return this.#do(
      {
        method: 'POST',
        path: `/users/{${owner}}/workspaces`,
        as: by,
        body: {
          name,
          template_id: this.names.wordFor(template),
          ttl_ms: ttlMs,
          autostart_schedule: schedule,
          rich_parameter_values: parameterValues(parameters),
        },
      },
      (made) => {
        this.names.set(name, made.id);
        this.#askers.set(name, by);
        this.#nameBuild(name, made.latest_build);
      },
    );
  }

  build(workspace: string, transition: Transition, parameters?: Tags): Promise<StageOutcome> {
    return this.#do(
      {
        method: 'POST',
        path: `/workspaces/{${workspace}}/builds`,
        as: this.#askers.get(workspace) ?? 'first',
        body: { transition, rich_parameter_values: parameterValues(parameters) },
      },
      (made) => this.#nameBuild(workspace, made),
    );
  }

  cancelBuild(workspace: string): Promise<StageOutcome> {
    const path = `/workspacebuilds/{latest build of ${workspace}}/cancel`;
    return this.#do({ method: 'PATCH', path, body: undefined });
  }

  setSchedule(workspace: string, schedule: string | undefined): Promise<StageOutcome> {
    const body = { schedule: schedule ?? '' };
    return this.#do({ method: 'PUT', path: `/workspaces/{${workspace}}/autostart`, body });
  }

  setTtl(workspace: string, ttlMs: number | undefined): Promise<StageOutcome> {
    const body = { ttl_ms: ttlMs ?? 0 };
    return this.#do({ method: 'PUT', path: `/workspaces/{${workspace}}/ttl`, body });
  }

  async startDaemon(name: string, tags: Tags): Promise<void> {
    await this.#control.start(name, tags);
    const { body } = await this.ask({
      path: '/organizations/{organization}/provisionerdaemons',
      query: { limit: '1' },
    });
    if (Array.isArray(body)) this.names.set(`daemon ${name}`, idsOf(body[0]).id);
  }

  async stopDaemon(name: string, how: 'terminate' | 'kill'): Promise<void> {
    await this.#control.signal(name, how);
    await this.until(`daemon ${name} is gone`, async () => {
      const daemons = await this.#control.list();
      return daemons.some((daemon) => daemon.name === name && daemon.state === 'exited');
    });
  }

  async tick(at: EpochMs): Promise<Tick> {
    const { transitions, errors } = await this.#control.tick(new Date(at));
    for (const workspace of Object.keys(transitions)) {
      const { body } = await this.ask({ path: `/workspaces/${workspace}` });
      this.#nameBuild(this.names.find(workspace) ?? workspace, idsOf(body).latest_build);
    }
    return { transitions, errors };
  }

  async setLastSeen(daemon: string, at: EpochMs): Promise<void> {
    const time = new Date(at).toISOString();
    const id = this.names.wordFor(`daemon ${daemon}`);
    await this.#control.sql(`UPDATE provisioner_daemons SET last_seen_at = '${time}' WHERE id = '${id}'`);
  }

  async forgetNextStart(workspace: string): Promise<void> {
    const sql = `UPDATE workspaces SET next_start_at = NULL WHERE id = '${this.names.wordFor(workspace)}'`;
    await this.#control.sql(sql);
  }

  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + TIMEOUT_MS;
    while (!(await isSo())) {
      if (Date.now() > end)
        throw new ConformanceError(
          `playing the story: timed out after ${TIMEOUT_MS / 1000} s waiting until ${what}`,
        );
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async #do(request: WriteRequest, onDone: (made: Made) => void = () => {}): Promise<StageOutcome> {
    const { status, body } = await this.#send(request);
    if (status < 300) {
      onDone(idsOf(body));
      return 'done';
    }
    const { message = '' } = idsOf(body) as { readonly message?: string };
    return { status, message };
  }

  async #must(request: WriteRequest): Promise<Made> {
    const { status, body } = await this.#send(request);
    if (status >= 300)
      throw new ConformanceError(
        `playing the story: ${request.method} ${request.path}: ${status} ${JSON.stringify(body)}`,
      );
    return idsOf(body);
  }

  #send({ method, path, body, as = 'first', type = 'application/json' }: WriteRequest): Promise<Answer> {
    const content = body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body);
    const url = `${this.#options.url}/api/v2${pathOf(path, this.names)}`;
    this.calls += 1;
    return send(url, { method, content, token: this.#tokenOf(as), type });
  }

  #tokenOf(as: string): string | undefined {
    return as === 'nobody' ? undefined : (this.#tokens.get(as) ?? as);
  }

  #nameBuild(workspace: string, build: Build | undefined): void {
    if (build === undefined) return;
    this.names.set(`latest build of ${workspace}`, build.id);
    this.names.set(`build ${build.build_number} of ${workspace}`, build.id);
    this.#nameJob(`job ${build.build_number} of ${workspace}`, build.job);
  }

  #nameJob(name: string, { id, file_id }: { readonly id: string; readonly file_id: string }): void {
    this.names.set(name, id);
    if (this.names.find(file_id) === undefined) this.names.set(`file of ${name}`, file_id);
  }
}

type Build = {
  readonly id: string;
  readonly build_number: number;
  readonly job: { readonly id: string; readonly file_id: string };
};

/** The fields that are read from answers to write requests. */
type Made = {
  readonly id: string;
  readonly key: string;
  readonly hash: string;
  readonly organization_ids?: readonly string[];
  readonly job?: Build['job'];
  readonly latest_build?: Build;
} & Build;

function contentOf({ script, parameter }: NewVersion): TemplateContent {
  if (parameter === undefined) return { script };
  const { name, value } = parameter;
  return {
    script,
    parameters: { [name]: value },
    workspaceTags: { [name]: `data.coder_parameter.${name}.value` },
  };
}

async function versionOf(url: string): Promise<string> {
  const { status, body } = await send(`${url}/api/v2/buildinfo`, {
    method: 'GET',
    token: undefined,
    content: undefined,
  });
  const { version } = (body ?? {}) as { readonly version?: string };
  if (status !== 200 || version === undefined)
    throw new ConformanceError(
      `reading the build info of ${url}: status ${status} without a version; check that the URL is a coderd`,
    );
  return version;
}

function idsOf(body: unknown): Made {
  return body as Made;
}

function parameterValues(parameters: Tags = {}) {
  return Object.entries(parameters).map(([name, value]) => ({ name, value }));
}
