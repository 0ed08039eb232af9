/** The questions of a transcript whose answers the product reads. They change nothing, and their answers are short. */
import * as z from 'zod';
import {
  daemonRows,
  jobRows,
  memberRows,
  organizationRows,
  templateRows,
  workspacesPageSchema,
} from '../../../lambda/adapters/coderd/http/lists.ts';
import {
  apiKeySchema,
  buildInfoSchema,
  templateVersionSchema,
  userSchema,
} from '../../../lambda/adapters/coderd/http/schemas.ts';
import type { Entry, Transcript } from './recordings.ts';

type Pair = readonly [name: string, value: string];

export type DeepQuestion = {
  readonly step: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: readonly Pair[];
  readonly body?: unknown;
  /** How the product reads the answer. */
  readonly schema: z.ZodType;
};

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
  ['no open jobs', { schema: jobRows }],
  ['the build info', { schema: buildInfoSchema }],
  ['the organizations', { schema: organizationRows }],
  ['the reader itself', { schema: userSchema }],
  ["the reader's token", { schema: apiKeySchema }],
  ['members', { schema: memberRows }],
  ['the newest daemon', { schema: daemonRows }],
  ['daemons seen just now', { schema: daemonRows }],
  ['workspaces as reader', { schema: workspacesPageSchema, more: [['limit', '1']] }],
  ['templates as reader', { schema: templateRows }],
  ['templates?q=deprecated:true', { schema: templateRows }],
  ['the active version of linux', { schema: templateVersionSchema }],
  ['authorization check of its organization', { schema: authorizations }],
]);

/** From a transcript of the newest release. */
export function readOnlyQuestions({ entries }: Transcript): readonly DeepQuestion[] {
  const asked = entries.filter((entry): entry is AskedEntry => 'asked' in entry);
  const bySteps = new Map(asked.map((entry) => [entry.step, entry]));
  return [...READINGS].flatMap(([step, { schema, more = [] }]) => {
    const entry = bySteps.get(step);
    const question = entry && parse(entry);
    return question === undefined ? [] : [{ ...question, query: [...question.query, ...more], schema }];
  });
}

export function isOfOrganization({ path, body }: DeepQuestion): boolean {
  return `${path} ${JSON.stringify(body)}`.includes('{organization}');
}

type AskedEntry = Extract<Entry, { readonly asked: string }>;

function parse({ step, asked }: AskedEntry): Omit<DeepQuestion, 'schema'> | undefined {
  const [, method, path, search] = /^(GET|POST) ([^?]+?)(?:\?(.*))? as \S+$/.exec(asked) ?? [];
  if ((method !== 'GET' && method !== 'POST') || path === undefined) return undefined;
  const query = (search ?? '').split('&').flatMap((text) => {
    const [, name, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  const body = CHECKS.find(([name]) => step === `authorization check ${name}`)?.[2];
  return { step, method, path, query, ...(body === undefined ? {} : { body }) };
}
