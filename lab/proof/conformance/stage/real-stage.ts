/** Plays the story on a real coderd. Its control port starts daemons and runs the lifecycle executor. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import type { Transition } from '../../../world/coderd/tables/templates.ts';
import type { UserStatus } from '../../../world/coderd/tables/users.ts';
import { pathOf, send } from './ask.ts';
import { ControlPort } from './control-port.ts';
import { type Answer, ConformanceError } from './question.ts';
import {
  type NewTemplate,
  type NewUser,
  type NewVersion,
  type NewWorkspace,
  type Role,
  Stage,
  type StageOutcome,
  type Tick,
} from './stage.ts';
import { type TemplateContent, templateArchive } from './template-archive.ts';

export type RealStageOptions = {
  readonly url: string;
  readonly control: string;
  /** A session token of an owner, the first user. */
  readonly token: string;
};

type Method = 'POST' | 'PUT' | 'PATCH';

type WriteOptions = {
  /** @default the first user */
  readonly as?: string;
  readonly onDone?: (made: Made) => void;
};

const PASSWORD = 'Only-for-the-story-1!';
const SITE_ROLES: readonly Role[] = ['owner', 'template-admin'];

export class RealStage extends Stage {
  protected readonly url: string;
  protected readonly timeoutMs = 20_000;
  readonly #control: ControlPort;
  readonly #askers = new Map<string, string>();

  private constructor(options: RealStageOptions, version: string) {
    super(version, Date.now());
    this.url = options.url;
    this.#control = new ControlPort(options.control);
    this.names.set('url', options.url);
    this.tokens.set('first', options.token);
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

  async addUser({ name, role, status }: NewUser): Promise<void> {
    const made = await this.#must('POST', '/users', {
      email: `${name}@example.com`,
      username: name,
      password: PASSWORD,
      organization_ids: [this.names.wordFor('organization')],
      user_status: status === 'dormant' ? 'dormant' : 'active',
    });
    this.names.set(name, made.id);
    const roles = { roles: [role] };
    if (SITE_ROLES.includes(role)) await this.#must('PUT', `/users/{${name}}/roles`, roles);
    if (role === 'organization-template-admin')
      await this.#must('PUT', `/organizations/{organization}/members/{${name}}/roles`, roles);
    const token = { lifetime: 24 * 3_600_000 * 1e6, token_name: 'story' };
    this.addToken(name, (await this.#must('POST', `/users/{${name}}/keys/tokens`, token)).key);
    if (status === 'suspended') await this.setUserStatus(name, 'suspended');
  }

  async setUserStatus(name: string, status: UserStatus): Promise<void> {
    const verb = status === 'suspended' ? 'suspend' : 'activate';
    await this.#must('PUT', `/users/{${name}}/status/${verb}`);
  }

  async importVersion({ name, tags, template, ...content }: NewVersion): Promise<StageOutcome> {
    const file = await this.#must('POST', '/files', templateArchive(contentOf(content)));
    const body = {
      name,
      storage_method: 'file',
      file_id: file.hash,
      provisioner: 'terraform',
      tags,
      ...(template === undefined ? {} : { template_id: this.names.wordFor(template) }),
    };
    return this.#do('POST', '/organizations/{organization}/templateversions', body, {
      onDone: (made) => {
        this.names.set(name, made.id);
        if (made.job !== undefined) this.nameJob(`import of ${name}`, namedJob(made.job));
      },
    });
  }

  cancelImport(version: string): Promise<StageOutcome> {
    return this.#do('PATCH', `/templateversions/{${version}}/cancel`);
  }

  addTemplate({ name, version }: NewTemplate): Promise<StageOutcome> {
    const body = { name, template_version_id: this.names.wordFor(version) };
    return this.#do('POST', '/organizations/{organization}/templates', body, {
      onDone: (made) => this.names.set(name, made.id),
    });
  }

  activate(template: string, version: string): Promise<StageOutcome> {
    return this.#do('PATCH', `/templates/{${template}}/versions`, { id: this.names.wordFor(version) });
  }

  addWorkspace(workspace: NewWorkspace): Promise<StageOutcome> {
    const { name, template, owner, by = owner, schedule, ttlMs, parameters = {} } = workspace;
    const body = {
      name,
      template_id: this.names.wordFor(template),
      ttl_ms: ttlMs,
      autostart_schedule: schedule,
      rich_parameter_values: Object.entries(parameters).map(([name, value]) => ({ name, value })),
    };
    return this.#do('POST', `/users/{${owner}}/workspaces`, body, {
      as: by,
      onDone: (made) => {
        this.names.set(name, made.id);
        this.#askers.set(name, by);
        this.#nameBuild(name, made.latest_build);
      },
    });
  }

  build(workspace: string, transition: Transition): Promise<StageOutcome> {
    const body = { transition, rich_parameter_values: [] };
    return this.#do('POST', `/workspaces/{${workspace}}/builds`, body, {
      as: this.#askers.get(workspace) ?? 'first',
      onDone: (made) => this.#nameBuild(workspace, made),
    });
  }

  cancelBuild(workspace: string): Promise<StageOutcome> {
    return this.#do('PATCH', `/workspacebuilds/{latest build of ${workspace}}/cancel`);
  }

  setSchedule(workspace: string, schedule = ''): Promise<StageOutcome> {
    return this.#do('PUT', `/workspaces/{${workspace}}/autostart`, { schedule });
  }

  setTtl(workspace: string, ttlMs: number): Promise<StageOutcome> {
    return this.#do('PUT', `/workspaces/{${workspace}}/ttl`, { ttl_ms: ttlMs });
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

  pass(ms: number): Promise<void> {
    return sleep(ms);
  }

  async #do(
    method: Method,
    path: string,
    body?: object,
    { as, onDone = () => {} }: WriteOptions = {},
  ): Promise<StageOutcome> {
    const { status, body: answer } = await this.#send(method, path, body, as);
    if (status < 300) {
      onDone(idsOf(answer));
      return 'done';
    }
    const { message = '' } = answer as { readonly message?: string };
    return { status, message };
  }

  async #must(method: Method, path: string, body?: object): Promise<Made> {
    const { status, body: answer } = await this.#send(method, path, body);
    if (status >= 300)
      throw new ConformanceError(`playing the story: ${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return idsOf(answer);
  }

  /** Bytes are sent unchanged: a tar file. */
  #send(method: Method, path: string, body?: object, as = 'first'): Promise<Answer> {
    const isBytes = body instanceof Uint8Array;
    const content = body === undefined || isBytes ? body : JSON.stringify(body);
    const type = isBytes ? 'application/x-tar' : 'application/json';
    this.calls += 1;
    return send(`${this.url}/api/v2${pathOf(path, this.names)}`, {
      method,
      content,
      token: this.tokenOf(as),
      type,
    });
  }

  #nameBuild(workspace: string, build: Build | undefined): void {
    if (build === undefined) return;
    const { id, build_number: number, job } = build;
    this.nameBuild(workspace, { id, number, job: namedJob(job) });
  }
}

const namedJob = ({ id, file_id: fileId }: Build['job']) => ({ id, fileId });

type Build = {
  readonly id: string;
  readonly build_number: number;
  readonly job: { readonly id: string; readonly file_id: string };
};

type Made = {
  readonly id: string;
  readonly key: string;
  readonly hash: string;
  readonly organization_ids?: readonly string[];
  readonly job?: Build['job'];
  readonly latest_build?: Build;
} & Build;

function contentOf({ script, parameter }: Pick<NewVersion, 'script' | 'parameter'>): TemplateContent {
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
