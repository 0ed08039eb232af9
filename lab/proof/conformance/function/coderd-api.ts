/** Calls a real coderd's public API for the run, with an owner's token. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { JsonClient } from '../stage/ask.ts';
import { ConformanceError } from '../stage/question.ts';
import { templateArchive } from '../stage/template-archive.ts';

const time = z.string().transform((text) => Date.parse(text));
const idSchema = z.object({ id: z.string() });
const jobSchema = z.object({
  id: z.string(),
  type: z.string().optional(),
  status: z.string(),
  error: z.string().nullish(),
  created_at: time,
  started_at: time.nullish(),
  completed_at: time.nullish(),
  tags: z.record(z.string(), z.string()),
  worker_name: z.string().nullish(),
});
const versionSchema = z.object({ id: z.string(), job: jobSchema });
const buildSchema = z.object({
  id: z.string(),
  reason: z.string(),
  transition: z.string(),
  created_at: time,
  job: jobSchema,
});
const workspaceSchema = z.object({ id: z.string(), name: z.string(), latest_build: buildSchema });
const organizationSchema = z.object({ id: z.string(), name: z.string(), is_default: z.boolean() });

export type RealJob = z.output<typeof jobSchema>;
export type RealWorkspace = z.output<typeof workspaceSchema>;
type Organization = z.output<typeof organizationSchema>;

const POLL_MS = 250;
/** Long enough that the function does not warn that the token expires. */
const TOKEN_NS = 60 * 24 * 3600 * 1e9;

export class CoderdApi {
  readonly organization: Organization;
  readonly version: string;
  readonly #url: string;
  readonly #http: JsonClient;
  /** Part of every name: a coderd may be used for several runs, and names must be unique. */
  readonly #run = randomUUID().slice(0, 8);
  #workspaces = 0;

  private constructor(url: string, http: JsonClient, organization: Organization, version: string) {
    this.#url = url;
    this.#http = http;
    this.organization = organization;
    this.version = version;
  }

  static async open(url: string, token: string): Promise<CoderdApi> {
    const http = new JsonClient(`${url}/api/v2`, token);
    const { version } = await http.ask('/buildinfo', z.object({ version: z.string() }));
    const organization = (await http.ask('/organizations', z.array(organizationSchema))).find(
      (it) => it.is_default,
    );
    if (organization === undefined)
      throw new ConformanceError('listing organizations: coderd has no default organization');
    return new CoderdApi(url, http, organization, version);
  }

  /** Creates a user with the role that docs/deploy.md asks for, and returns a token of it. */
  async makeFunctionToken(): Promise<string> {
    const username = `autoscaler-${this.#run}`;
    const email = `${username}@example.com`;
    const password = randomUUID();
    const user = await this.#post('/users', idSchema, {
      email,
      username,
      password,
      login_type: 'password',
      organization_ids: [this.organization.id],
    });
    await this.#http.ask(`/organizations/${this.organization.id}/members/${user.id}/roles`, z.unknown(), {
      method: 'PUT',
      body: { roles: ['organization-template-admin'] },
    });
    const sessionSchema = z.object({ session_token: z.string() });
    const session = await this.#post('/users/login', sessionSchema, { email, password });
    const own = new JsonClient(`${this.#url}/api/v2`, session.session_token);
    const body = { token_name: 'autoscaler', scope: 'all', lifetime: TOKEN_NS };
    return (await own.ask('/users/me/keys/tokens', z.object({ key: z.string() }), { method: 'POST', body }))
      .key;
  }

  async pushTemplate(name: string, tags: Tags): Promise<string> {
    const file = z.object({ hash: z.string() });
    const body = templateArchive({
      parameters: { ms: '1000' },
      workspaceTags: Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, `"${value}"`])),
    });
    const { hash } = await this.#http.ask('/files', file, { method: 'POST', body });
    const organization = `/organizations/${this.organization.id}`;
    const version = await this.#post(`${organization}/templateversions`, versionSchema, {
      storage_method: 'file',
      file_id: hash,
      provisioner: 'terraform',
      tags,
    });
    await this.#succeeded(`/templateversions/${version.id}`, versionSchema, ({ job }) => job);
    const template = { name: `${name}-${this.#run}`, template_version_id: version.id };
    return (await this.#post(`${organization}/templates`, idSchema, template)).id;
  }

  createWorkspace(template: string, buildMs: number): Promise<RealWorkspace> {
    const name = `w${++this.#workspaces}-${this.#run}`;
    return this.#post('/users/me/workspaces', workspaceSchema, {
      name,
      template_id: template,
      ...parameters(buildMs),
    });
  }

  async stopWorkspace({ id }: RealWorkspace, buildMs: number): Promise<void> {
    await this.#post(`/workspaces/${id}/builds`, buildSchema, { transition: 'stop', ...parameters(buildMs) });
  }

  async settle({ id }: RealWorkspace): Promise<void> {
    await this.#succeeded(`/workspaces/${id}`, workspaceSchema, ({ latest_build }) => latest_build.job);
  }

  /** Sets the workspace to start each day at this minute. */
  async setAutostart({ id }: RealWorkspace, at: Date): Promise<void> {
    const schedule = `CRON_TZ=UTC ${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
    await this.#http.ask(`/workspaces/${id}/autostart`, z.unknown(), { method: 'PUT', body: { schedule } });
  }

  workspace({ id }: RealWorkspace): Promise<RealWorkspace> {
    return this.#http.ask(`/workspaces/${id}`, workspaceSchema);
  }

  /** All jobs of the organization that were created since `from`. */
  async jobsSince(from: number): Promise<readonly RealJob[]> {
    const path = `/organizations/${this.organization.id}/provisionerjobs?limit=0`;
    return (await this.#http.ask(path, z.array(jobSchema))).filter(({ created_at }) => created_at >= from);
  }

  async #succeeded<T extends z.ZodType>(
    path: string,
    schema: T,
    jobOf: (it: z.output<T>) => RealJob,
  ): Promise<void> {
    for (;;) {
      const { status, error } = jobOf(await this.#http.ask(path, schema));
      if (status === 'succeeded') return;
      if (status !== 'pending' && status !== 'running')
        throw new ConformanceError(
          `waiting for ${path}: its job is ${status}: ${error ?? 'coderd gives no error'}`,
        );
      await sleep(POLL_MS);
    }
  }

  #post<T extends z.ZodType>(path: string, schema: T, body: object): Promise<z.output<T>> {
    return this.#http.ask(path, schema, { method: 'POST', body });
  }
}

const parameters = (buildMs: number) => ({ rich_parameter_values: [{ name: 'ms', value: `${buildMs}` }] });
