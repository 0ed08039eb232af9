/** Reads the jobs that the pools' tasks have run from coderd. */

import { ROLE } from '../../lambda/adapters/coderd/coderd.ts';
import { type JobOutcome, outcomeSchema, readJobsSince } from '../../lambda/adapters/coderd/history.ts';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { nameInParts } from '../../lambda/decision/supply/daemons.ts';
import type { LogSpan } from '../logs/function-log.ts';
import { orRefuse, readServer } from '../trace/history.ts';
import type { Build } from './measure.ts';

/** All jobs of daemons that are named after a task: builds, imports and dry runs. Throws InputError. */
export async function readTaskBuilds(
  http: CoderdHttp,
  pools: readonly PoolConfig[],
  span: LogSpan,
): Promise<readonly Build[]> {
  const names = [...new Set(pools.map(({ organization }) => organization))];
  const { organizations, build } = await readServer(http, names);
  const read: Build[] = [];
  for (const organization of organizations) {
    const what = `listing provisioner jobs of organization "${organization.name}"`;
    const { jobs } = await orRefuse({ what, role: ROLE }, () =>
      readJobsSince(http, organization, { since: span.from, build, schema: outcomeSchema }),
    );
    read.push(...jobs.flatMap((job) => buildOf(job, span) ?? []));
  }
  return read;
}

function buildOf(job: JobOutcome, { to }: LogSpan): Build | undefined {
  const { worker_name, started_at, completed_at } = job;
  const { pool, ending: task } = nameInParts(worker_name ?? '');
  if (pool === undefined || started_at == null) return undefined;
  return { pool, task, startedAt: started_at, endedAt: completed_at ?? to, isKilled: isKilled(job) };
}

/** coder kills the Terraform of a cancelled build that does not end by itself. */
function isKilled({ canceled_at, error }: JobOutcome): boolean {
  return canceled_at == null && KILLED.test(error ?? '');
}

/** Builds whose Terraform, or a program that it ran, was killed (docs/internals/coder.md §5). */
const KILLED = /signal: killed|exit status 137|exit code 137|\bOOM|out of memory|cannot allocate memory/i;
