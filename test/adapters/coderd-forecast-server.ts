/** A coderd over HTTP that has only the routes of the forecast. The test moves its clock. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { serve } from '../support/servers.ts';

type Check = { readonly object: { readonly resource_type: string; readonly organization_id: string } };

/** The answer that replaces the right one: a status and a body, or no answer. */
export type Fault = { readonly status: number; readonly body?: string } | 'no answer' | undefined;

export const NOW = Date.parse('2026-03-02T08:00:00Z');

export class ForecastServer {
  workspaces: object[] = [];
  templates: object[] = [];
  /** Deprecated templates, which coderd lists only on request. */
  deprecated: object[] = [];
  versions = new Map<string, object>();
  /** By version id. */
  members: object[] = [];
  offlineDaemons: object[] = [];
  now = NOW;
  /** The number of rows that coderd counts but does not list. */
  hidden = 0;
  fault: (request: { readonly path: string; readonly query: string; readonly offset: number }) => Fault =
    () => undefined;
  permits: (resource: string, organization: string) => boolean = () => true;
  readonly requests: string[] = [];
  readonly bodies: unknown[] = [];
  /** The most concurrent requests, by path. */
  readonly most = new Map<string, number>();
  readonly #open = new Map<string, number>();

  /** It stops when the test ends. */
  start(): Promise<string> {
    return serve((request, response) => void this.#handle(request, response));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(`http://coderd${request.url}`);
    const path = pathname.replace('/api/v2/', '');
    this.requests.push(`${request.method} ${path}${searchParams.size > 0 ? `?${searchParams}` : ''}`);
    const kind = path.split('/')[0] ?? '';
    const open = (this.#open.get(kind) ?? 0) + 1;
    this.#open.set(kind, open);
    this.most.set(kind, Math.max(open, this.most.get(kind) ?? 0));
    response.on('close', () => this.#open.set(kind, (this.#open.get(kind) ?? 0) - 1));
    let text = '';
    for await (const chunk of request) text += String(chunk);
    if (request.method === 'POST') this.bodies.push(JSON.parse(text));
    const offset = Number(searchParams.get('offset'));
    const fault = this.fault({ path, query: searchParams.toString(), offset });
    if (fault === 'no answer') return;
    const answer = fault ?? this.#answer(path, searchParams);
    response.writeHead(answer.status, { date: new Date(this.now).toUTCString() });
    response.end(answer.body ?? '{"message":"no"}');
  }

  #answer(path: string, asked: URLSearchParams): { readonly status: number; readonly body?: string } {
    const [kind, id = ''] = path.split('/');
    const [offset, limit] = [Number(asked.get('offset')), Number(asked.get('limit'))];
    if (kind === 'workspaces') {
      const workspaces = this.workspaces.slice(offset, offset + limit);
      return ok({ workspaces, count: this.workspaces.length + this.hidden });
    }
    if (path.endsWith('/members')) return ok(this.members);
    if (path.endsWith('/provisionerdaemons')) return ok(this.offlineDaemons);
    if (kind === 'templates')
      return ok(asked.get('q') === 'deprecated:true' ? this.deprecated : this.templates);
    if (kind === 'authcheck') return ok(this.#permissions());
    const version = this.versions.get(id);
    return version === undefined ? { status: 404 } : ok(version);
  }

  #permissions(): object {
    const { checks } = this.bodies.at(-1) as { readonly checks: Readonly<Record<string, Check>> };
    return Object.fromEntries(
      Object.entries(checks).map(([name, { object }]) => [
        name,
        this.permits(object.resource_type, object.organization_id),
      ]),
    );
  }
}

const ok = (body: unknown) => ({ status: 200, body: JSON.stringify(body) });

/** A workspace in coderd's JSON, with fields that the adapter does not use. */
export function workspaceJson(id: string, given: object = {}): object {
  return {
    id,
    organization_id: 'org-a',
    template_id: 'template-1',
    name: `name of ${id}`,
    owner_id: 'owner',
    owner_name: 'ada',
    automatic_updates: 'never',
    template_require_active_version: false,
    outdated: true,
    autostart_schedule: 'CRON_TZ=Europe/Berlin 0 9 * * 1-5',
    next_start_at: '2026-03-03T08:00:00Z',
    last_used_at: '2026-03-01T17:00:00.123456Z',
    dormant_at: null,
    latest_build: {
      created_at: '2026-03-01T17:00:00Z',
      transition: 'stop',
      reason: 'a reason that came later',
      deadline: '0001-01-01T00:00:00Z',
      max_deadline: null,
      initiator_name: 'alice',
      resources: [{ metadata: [{ key: 'password', value: 'hunter2', sensitive: true }] }],
      job: {
        status: 'succeeded',
        completed_at: '2026-03-01T17:01:00Z',
        tags: { scope: 'organization', owner: '' },
      },
    },
    ...given,
  };
}

/** A template in coderd's JSON. */
export function templateJson(id: string, given: object = {}): object {
  return {
    id,
    name: `name of ${id}`,
    organization_id: 'org-a',
    active_version_id: `version-of-${id}`,
    allow_user_autostart: true,
    autostart_requirement: { days_of_week: ['monday', 'friday'] },
    autostop_requirement: { days_of_week: [], weeks: 1 },
    failure_ttl_ms: 0,
    time_til_dormant_ms: 86_400_000,
    time_til_dormant_autodelete_ms: 0,
    build_time_stats: { start: { P50: 1, P95: 2 }, stop: { p50: null } },
    ...given,
  };
}

/** A template version with these tags. */
export const versionJson = (tags: object): object => ({
  name: 'v1',
  job: { id: 'job', status: 'succeeded', tags: { scope: 'organization', owner: '', ...tags }, input: {} },
});

/** A member that was suspended the day before. */
export const memberJson = (id: string): object => ({
  user_id: id,
  username: 'alice',
  email: 'alice@example.com',
  status: 'suspended',
  user_updated_at: '2026-03-01T12:00:00Z',
});
