import type { EpochMs, JobId } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import type { DaemonConnection } from '../../../world/base/daemon-connection.ts';
import { JobRunner } from '../../../world/base/job-runner.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel, type CoderdOptions, type SubmittedJob } from '../../../world/coderd/model.ts';
import type { NewTemplate } from '../../../world/coderd/tables/templates.ts';
import type { NewWorkspace } from '../../../world/coderd/tables/workspace-records.ts';

/** 8:00 UTC on a Monday. */
export const START = Date.parse('2026-03-02T08:00:00Z') as EpochMs;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A simulated coderd. `at` advances its time to so many milliseconds after the start. */
export function coderdWorld({
  start = START,
  ...options
}: Partial<CoderdOptions> & { start?: EpochMs } = {}) {
  const timeline = new Timeline(start);
  const model = new CoderdModel({
    timeline,
    random: new Random(1),
    organizations: ['default', 'data'],
    ...options,
  });
  const at = (ms: number): void => timeline.advanceTo((start + ms) as EpochMs);
  let keys = 0;
  const connect = (name: string, tags: Tags = {}, organization = 'default'): DaemonConnection => {
    const key = model.addKey({ organization, name: `key-${++keys}`, tags });
    return model.connect({ key, name, version: 'v2.15.0' });
  };
  /** Connects a daemon that takes no job, so jobs stay pending. */
  const onlooker = (tags: Tags = {}, organization = 'default'): DaemonConnection =>
    connect(`daemon-${keys + 1}`, tags, organization);
  /** Starts a daemon that runs every job that it gets. */
  const worker = (tags: Tags = {}): JobRunner => new JobRunner(onlooker(tags), timeline);
  const submit = (job: Partial<SubmittedJob> = {}): JobId =>
    model.submitJob({ organization: 'default', tags: {}, durationMs: MINUTE, ...job });
  const statuses = () => model.jobs().map(({ status }) => status);
  const template = (settings: Partial<NewTemplate> = {}) =>
    model.addTemplate({ organization: 'default', ...settings });
  const workspace = (given: Partial<NewWorkspace> = {}, settings: Partial<NewTemplate> = {}) =>
    model.workspaces.add({ template: template(settings), ...given });
  /** All jobs: the minute of their insertion since the start, and what they do. */
  const inserted = () =>
    model.jobs().map(({ createdAt, transition }) => `${(createdAt - start) / MINUTE} ${transition}`);
  return { model, at, connect, onlooker, worker, submit, statuses, template, workspace, inserted };
}
