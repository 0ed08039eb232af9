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
import type { RowsSchema } from '../../../lambda/adapters/shared/rows.ts';
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

/** A list, whose rows are compared one by one, or another document. */
type ReadQuestion = ({ readonly list: RowsSchema<unknown> } | { readonly document: z.ZodType }) & {
  readonly more?: readonly Pair[];
};

/** The steps that read, with more parameters that keep the answer small. */
const READINGS: ReadonlyMap<string, ReadQuestion> = new Map<string, ReadQuestion>([
  ['no open jobs', { list: jobRows }],
  ['the build info', { document: buildInfoSchema }],
  ['the organizations', { list: organizationRows }],
  ['the reader itself', { document: userSchema }],
  ["the reader's token", { document: apiKeySchema }],
  ['members', { list: memberRows }],
  ['the newest daemon', { list: daemonRows }],
  ['daemons seen just now', { list: daemonRows }],
  ['workspaces as reader', { document: workspacesPageSchema, more: [['limit', '1']] }],
  ['templates as reader', { list: templateRows }],
  ['templates?q=deprecated:true', { list: templateRows }],
  ['the active version of linux', { document: templateVersionSchema }],
  ['authorization check of its organization', { document: authorizations }],
]);

/** From a transcript of the newest release. */
export function readOnlyQuestions({ entries }: Transcript): readonly DeepQuestion[] {
  const asked = entries.filter((entry): entry is AskedEntry => 'asked' in entry);
  const bySteps = new Map(asked.map((entry) => [entry.step, entry]));
  return [...READINGS].flatMap(([step, { more = [], ...read }]) => {
    const entry = bySteps.get(step);
    const question = entry && parse(entry);
    const schema = 'list' in read ? read.list : read.document;
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
