/** Questions about jobs, daemons, versions and workspaces that several chapters of the story ask. */
import type { Question } from '../stage/question.ts';
import type { Stage } from '../stage/stage.ts';

type Query = Readonly<Record<string, string>>;

export const read = {
  jobs: (query: Query): Question => ({
    path: '/organizations/{organization}/provisionerjobs',
    query,
    as: 'reader',
  }),
  job: (name: string): Question => ({
    path: `/organizations/{organization}/provisionerjobs/{${name}}`,
    as: 'reader',
  }),
  daemons: (query: Query): Question => ({
    path: '/organizations/{organization}/provisionerdaemons',
    query,
    as: 'reader',
  }),
  version: (name: string): Question => ({ path: `/templateversions/{${name}}`, as: 'reader' }),
  workspaces: (): Question => ({ path: '/workspaces', as: 'reader' }),
  builds: (workspace: string): Question => ({ path: `/workspaces/{${workspace}}/builds`, as: 'reader' }),
};

export type JobState = { readonly status: string; readonly worker_name?: string };

export async function job(stage: Stage, name: string): Promise<JobState | undefined> {
  const { status, body } = await stage.ask(read.job(name));
  return status === 200 ? (body as JobState) : undefined;
}

export function isSettled(state: JobState | undefined): boolean {
  return ['succeeded', 'failed', 'canceled'].includes(state?.status ?? '');
}

export function untilSettled(stage: Stage, name: string): Promise<void> {
  return stage.until(`${name} has ended`, async () => isSettled(await job(stage, name)));
}
