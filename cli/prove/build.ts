/**
 * The build of the experiment: the import of a template version that sleeps twice while Terraform plans. It
 * needs no template and no workspace. coderd cannot delete a version, and archives only those of a template.
 */
import * as z from 'zod';
import { describeAnswer } from '../../lambda/adapters/coderd/http/answer.ts';
import type { CoderdHttp, Question } from '../../lambda/adapters/coderd/http/http.ts';
import { time } from '../../lambda/adapters/shared/time.ts';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import { InputError } from '../shared/cli-environment.ts';

/** An import plans a start and a stop, and reads data for each. */
const SLEEP_S = 120;
export const BUILD_S = 2 * SLEEP_S;

const TEMPLATE = `terraform {
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
export type Version = z.output<typeof versionSchema>;

/** Throws CoderdError or InputError. */
export async function pushBuild(http: CoderdHttp, organization: string, tags: Tags): Promise<Version> {
  const file = { method: 'POST', path: '/api/v2/files', body: tarOf('main.tf', TEMPLATE) } as const;
  const typed = { ...file, type: 'application/x-tar', once: true };
  const { hash } = await ask(http, 'uploading the template', z.object({ hash: z.string() }), typed);
  const path = `/api/v2/organizations/${organization}/templateversions`;
  const version = {
    message: 'autoscaler prove',
    storage_method: 'file',
    file_id: hash,
    provisioner: 'terraform',
  };
  const body = JSON.stringify({ ...version, tags });
  const question = { method: 'POST', path, body, once: true } as const;
  return ask(http, 'creating the template version', versionSchema, question);
}

export async function readBuild(http: CoderdHttp, { id }: Pick<Version, 'id'>): Promise<Version['job']> {
  const question = { method: 'GET', path: `/api/v2/templateversions/${id}` } as const;
  return (await ask(http, 'reading the template version', versionSchema, question)).job;
}

/** Succeeds if the build has ended. */
export async function cancelBuild(http: CoderdHttp, version: Version): Promise<void> {
  if ((await readBuild(http, version)).completed_at) return;
  const path = `/api/v2/templateversions/${version.id}/cancel`;
  await ask(http, 'cancelling the build', z.unknown(), { method: 'PATCH', path, body: '', once: true });
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
  const says = describeAnswer(answer).replace(/\.+$/, '');
  throw new InputError(
    `${doing}: ${says}. CODER_SESSION_TOKEN must be of a template admin of the organization`,
  );
}

const BLOCK = 512;

/** One file in the format ustar, which coderd reads. Both texts are ASCII. */
function tarOf(name: string, content: string): string {
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  const owner = octal(0o644, 7) + octal(0, 7) + octal(0, 7);
  const head = (sum: string): string => {
    const size = octal(content.length, 11) + octal(0, 11);
    return `${name.padEnd(100, '\0')}${owner}${size}${sum}${'0'.padEnd(101, '\0')}ustar\0${'00'}`.padEnd(
      BLOCK,
      '\0',
    );
  };
  const bytes = [...head(' '.repeat(8))].reduce((sum, each) => sum + each.charCodeAt(0), 0);
  const padded = content.padEnd(Math.ceil(content.length / BLOCK) * BLOCK, '\0');
  return `${head(`${octal(bytes, 6)} `)}${padded}${'\0'.repeat(2 * BLOCK)}`;
}
