/**
 * The build of the experiment: the import of a template version that sleeps twice while Terraform plans. It
 * needs no template and no workspace. coderd cannot delete a version, and archives only those of a template.
 */
import { strToU8, zipSync } from 'fflate';
import * as z from 'zod';
import { describeAnswer } from '../../../lambda/adapters/coderd/http/answer.ts';
import type { CoderdHttp, Question } from '../../../lambda/adapters/coderd/http/http.ts';
import { time } from '../../../lambda/adapters/shared/time.ts';
import { parseQuietly } from '../../../lambda/decision/model/parse-quietly.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { plainLine } from '../../../lambda/explain/format.ts';
import { InputError } from '../../shared/cli-environment.ts';

/** An import plans a start and a stop, and reads data for each. */
const SLEEP_S = 300;
export const BUILD_S = 2 * SLEEP_S;

/** The template of the sleeping build. */
const SLEEPING = `terraform {
  required_providers {
    external = { source = "hashicorp/external" }
  }
}

data "external" "sleep" {
  program = ["sh", "-c", "sleep ${SLEEP_S}; echo {}"]
}
`;

const versionSchema = z.object({
  id: z.string(),
  job: z.object({
    status: z.string(),
    worker_id: z.string().nullish(),
    completed_at: time.nullish(),
    error: z.string().nullish(),
  }),
});

export type Build = {
  readonly id: string;
  /** The lines that Terraform wrote. */
  readonly log: () => Promise<readonly string[]>;
  readonly read: () => Promise<z.output<typeof versionSchema>['job']>;
  /** Succeeds if the build has ended. */
  readonly cancel: () => Promise<unknown>;
};

type NewBuild = {
  /** Its id. */
  readonly organization: string;
  readonly tags: Tags;
  /** By name. @default a template that sleeps */
  readonly files?: Readonly<Record<string, string>>;
};

const logLines = z.array(z.object({ output: z.string() }));

/** All throw CoderdError or InputError. */
export async function pushBuild(
  http: CoderdHttp,
  { organization, tags, files = { 'main.tf': SLEEPING } }: NewBuild,
): Promise<Build> {
  const post = { method: 'POST', once: true } as const;
  const bytes = Object.entries(files).map(([name, text]) => [name, strToU8(text)] as const);
  const zip = zipSync(Object.fromEntries(bytes), { level: 0, mtime: '1980-01-02' });
  const file = { ...post, path: '/api/v2/files', body: zip, type: 'application/zip' };
  const { hash } = await ask(http, 'uploading the template', z.object({ hash: z.string() }), file);
  const version = { message: 'autoscaler prove', storage_method: 'file', provisioner: 'terraform', tags };
  const { id } = await ask(http, 'creating the template version', versionSchema, {
    ...post,
    path: `/api/v2/organizations/${organization}/templateversions`,
    body: JSON.stringify({ ...version, file_id: hash }),
  });
  const path = `/api/v2/templateversions/${id}`;
  const stop = { method: 'PATCH', path: `${path}/cancel`, body: '', once: true } as const;
  const read: Build['read'] = async () =>
    (await ask(http, 'reading the template version', versionSchema, { method: 'GET', path })).job;
  const cancel = async () =>
    (await read()).completed_at || ask(http, 'cancelling the build', z.unknown(), stop);
  const log = async () => {
    const lines = await ask(http, 'reading the log of the build', logLines, {
      method: 'GET',
      path: `${path}/logs`,
    });
    return lines.map(({ output }) => output);
  };
  return { id, read, log, cancel };
}

async function ask<T extends z.ZodType>(
  http: CoderdHttp,
  doing: string,
  schema: T,
  question: Question,
): Promise<z.output<T>> {
  const answer = await http.answer(question);
  const parsed = schema.safeParse(parseQuietly(answer.text));
  if (parsed.success && (answer.statusCode === 200 || answer.statusCode === 201)) return parsed.data;
  const says = plainLine(describeAnswer(answer).replace(/\.+$/, ''));
  throw new InputError(
    `${doing}: ${says}. CODER_SESSION_TOKEN must be of a template admin of the organization`,
  );
}
