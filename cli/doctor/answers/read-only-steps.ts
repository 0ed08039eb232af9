/**
 * The questions of a transcript that are safe for any coderd: they change nothing, need only a
 * token and an organization, and make coderd neither read all jobs nor log an internal error.
 */
import * as z from 'zod';
import {
  apiKeySchema,
  buildInfoSchema,
  daemonSchema,
  jobSchema,
  listedTemplateSchema,
  memberSchema,
  organizationSchema,
  templateVersionSchema,
  userSchema,
  workspacesPageSchema,
} from '../../../lambda/adapters/coderd/http/schemas.ts';
import type { Entry, Transcript } from './recordings.ts';

type Pair = readonly [name: string, value: string];

export type DeepQuestion = {
  readonly step: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: readonly Pair[];
  readonly body?: unknown;
  /** `reader`: the token's own user. `nobody`: no token. Any other value is sent as an invalid token. */
  readonly as: string;
  /** How the product reads the answer; undefined if coderd must refuse the question. */
  readonly schema?: z.ZodType;
};

const ORGANIZATION = '/organizations/{organization}';
const JOBS = `${ORGANIZATION}/provisionerjobs`;
/** The id in the path of the step that reads a template version. */
export const VERSION = 'linux-2';

/** Like `authorizationSchema`, with the names that the story uses. */
const authorizations = z.object({
  workspace: z.boolean().nullish(),
  template: z.boolean().nullish(),
  provisioner_jobs: z.boolean().nullish(),
  provisioner_daemon: z.boolean().nullish(),
});

/** The story's authorization checks. */
export const CHECKS: readonly (readonly [name: string, as: string, body: unknown])[] = [
  ['of its organization', 'reader', checks('{organization}')],
  ['of its organization, as a member', 'mia', checks('{organization}')],
  ['of all organizations', 'reader', checks('')],
  ['of all organizations, as an owner', 'first', checks('')],
  ['of nothing', 'reader', { checks: {} }],
  ['without a type', 'reader', { checks: { x: { action: 'read', object: {} } } }],
  ['without checks', 'reader', {}],
];

function checks(organization_id: string) {
  const types = ['workspace', 'template', 'provisioner_jobs', 'provisioner_daemon'];
  const pairs = types.map((resource_type) => [
    resource_type,
    { action: 'read', object: { resource_type, organization_id } },
  ]);
  return { checks: Object.fromEntries(pairs) };
}

type ReadQuestion = { readonly schema: z.ZodType; readonly more?: readonly Pair[]; readonly body?: unknown };

/** The steps that read, with more parameters that keep the answer small. */
const READINGS: ReadonlyMap<string, ReadQuestion> = new Map<string, ReadQuestion>([
  ['no open jobs', { schema: z.array(jobSchema) }],
  ['the build info', { schema: buildInfoSchema }],
  ['the organizations', { schema: z.array(organizationSchema) }],
  ['the reader itself', { schema: userSchema }],
  ["the reader's token", { schema: apiKeySchema }],
  ['members', { schema: z.array(memberSchema) }],
  ['the newest daemon', { schema: z.array(daemonSchema) }],
  ['daemons seen just now', { schema: z.array(daemonSchema) }],
  ['workspaces as reader', { schema: workspacesPageSchema, more: [['limit', '1']] }],
  ['templates as reader', { schema: z.array(listedTemplateSchema) }],
  ['templates?q=deprecated:true', { schema: z.array(listedTemplateSchema) }],
  ['the active version of linux', { schema: templateVersionSchema }],
  ['authorization check of its organization', { schema: authorizations }],
]);

/** From a transcript of the newest release: the steps that read, then the refused ones. */
export function readOnlyQuestions({ entries }: Transcript): readonly DeepQuestion[] {
  const asked = entries.filter((entry): entry is AskedEntry => 'asked' in entry);
  const bySteps = new Map(asked.map((entry) => [entry.step, entry]));
  const readings = [...READINGS].flatMap(([step, { schema, more = [] }]) => {
    const entry = bySteps.get(step);
    const question = entry && parse(entry);
    return question === undefined ? [] : [{ ...question, query: [...question.query, ...more], schema }];
  });
  const refusals = asked
    .filter(({ step, status, body }) => !READINGS.has(step) && isRefusal(status, body))
    .flatMap((entry) => parse(entry) ?? [])
    .filter(mayBeAsked)
    .map(bounded);
  return [...readings, ...refusals];
}

export function isOfOrganization({ path, body }: DeepQuestion): boolean {
  return `${path} ${JSON.stringify(body)}`.includes('{organization}');
}

type AskedEntry = Extract<Entry, { readonly asked: string }>;

function parse({ step, asked }: AskedEntry): DeepQuestion | undefined {
  const [, method, path, search, as] = /^(GET|POST) ([^?]+?)(?:\?(.*))? as (\S+)$/.exec(asked) ?? [];
  if ((method !== 'GET' && method !== 'POST') || path === undefined || as === undefined) return undefined;
  const query = (search ?? '').split('&').flatMap((text) => {
    const [, name, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  const body = CHECKS.find(([name]) => step === `authorization check ${name}`)?.[2];
  return { step, method, path, query, as, ...(body === undefined ? {} : { body }) };
}

/** Unknown routes are left out, since a proxy may answer them, and internal errors, which coderd logs. */
function isRefusal(status: number, body: unknown): boolean {
  const { message } = z.object({ message: z.string() }).safeParse(body).data ?? {};
  return status >= 400 && status < 500 && message !== undefined && message !== 'Route not found.';
}

function mayBeAsked({ method, path, query, body, as }: DeepQuestion): boolean {
  const target = `${path}?${query.join('&')}`;
  const names = target.matchAll(/\{([^{}":]+)\}/g).map(([, name]) => name);
  return (
    (method === 'GET' || (path === '/authcheck' && body !== undefined)) &&
    names.every((name) => name === 'organization') &&
    // Some releases answer with an internal error, which coderd logs.
    !target.includes('nonsense') &&
    // An organization may have this name.
    !path.startsWith('/organizations/nope') &&
    // Each invalid token is sent once: a firewall may count them.
    (as === 'reader' || (path === JOBS && !['mia', 'tessa', 'cyd', 'first'].includes(as)))
  );
}

/** Limits the answer, in case that this coderd does not refuse the question. */
function bounded(question: DeepQuestion): DeepQuestion {
  const { path, query } = question;
  const has = (name: string): boolean => query.some(([given]) => given === name);
  if (path.endsWith('/provisionerjobs') && !has('status'))
    return { ...question, query: [...query, ['status', 'pending']] };
  if (path === '/workspaces' && !has('limit')) return { ...question, query: [...query, ['limit', '1']] };
  return question;
}
