/** The conversion of one job of coderd to a job of a trace. */
import { describe, expect, it } from 'vitest';
import { PREBUILDS_USER } from '../../../../lambda/decision/demand/record.ts';
import {
  type DaemonId,
  type EpochMs,
  type JobId,
  type OrganizationId,
  plusMs,
} from '../../../../lambda/decision/model/brands.ts';
import type { Job } from '../../../../lambda/decision/model/snapshot.ts';
import { timeOf } from '../../../../test/support/lab.ts';
import { finished, traceJob } from '../../../what-if/cli/trace/trace-jobs.ts';

const at = (clock: string): EpochMs => timeOf(`2026-03-02T${clock}Z`);

const job: Job & { readonly started_at: EpochMs; readonly completed_at: EpochMs } = {
  id: 'j' as JobId,
  organization_id: 'o' as OrganizationId,
  created_at: at('09:00:12.345'),
  started_at: at('09:00:20.000'),
  completed_at: at('09:01:34.250'),
  worker_id: 'w' as DaemonId,
  initiator_id: 'somebody',
  status: 'succeeded',
  type: 'workspace_build',
  tags: { scope: 'organization', owner: '', size: 'large' },
  metadata: { workspace_id: 'ws' },
};

const build = (reason: string, initiator_id: string | null = 'somebody') => ({
  reason,
  initiator_id,
  job: { id: 'j' },
});

describe('a finished job', () => {
  it('has the tags of the job and the duration of its daemon', () => {
    expect(traceJob(job, 'data', build('initiator'))).toEqual({
      at: at('09:00:12.345'),
      organization: 'data',
      tags: { size: 'large' },
      seconds: 74.25,
      kind: 'user',
      workspace: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });

  it.each([
    { reason: 'dashboard', kind: 'user', because: 'a person' },
    { reason: 'ssh_connection', kind: 'user', because: 'a person who connects' },
    { reason: 'task_resume', kind: 'user', because: 'unknown reasons are those of newer servers' },
    { reason: 'autostart', kind: 'autostart', because: 'the executor' },
    { reason: 'autostop', kind: 'autostop', because: 'the executor' },
    { reason: 'task_auto_pause', kind: 'autostop', because: 'the executor, for a workspace of a task' },
    { reason: 'dormancy', kind: 'dormancy', because: 'the executor' },
    { reason: 'autodelete', kind: 'dormancy', because: 'the executor, for one that is dormant' },
  ])('gets the kind $kind for the build reason $reason: $because', ({ reason, kind }) => {
    const traced = traceJob(job, 'data', build(reason));
    expect(traced.kind).toBe(kind);
    expect(traced.at).toBe(kind === 'user' ? job.created_at : at('09:00:00'));
  });

  it.each([
    { given: { initiator_id: PREBUILDS_USER }, told: undefined, kind: 'prebuild' },
    { given: { initiator_id: null }, told: build('initiator', PREBUILDS_USER), kind: 'prebuild' },
    { given: {}, told: undefined, kind: 'user' },
    { given: { type: 'template_version_import' }, told: undefined, kind: 'import' },
    { given: { type: 'template_version_dry_run' }, told: undefined, kind: 'import' },
  ])('gets the kind $kind with $given and the build $told', ({ given, told, kind }) => {
    expect(traceJob({ ...job, ...given }, 'data', told).kind).toBe(kind);
  });
});

it('gives jobs of one workspace the same hash, and prebuilds and imports none', () => {
  const hashOf = (given: Partial<typeof job>, told = build('initiator')) =>
    traceJob({ ...job, ...given }, 'data', told).workspace;
  const metadata = { workspace_id: 'ws', workspace_build_transition: 'stop' };
  expect(traceJob({ ...job, metadata }, 'data', build('initiator')).transition).toBe('stop');
  expect(hashOf({}, build('autostop'))).toBe(hashOf({}));
  expect(hashOf({ metadata: { workspace_id: 'another' } })).not.toBe(hashOf({}));
  expect(hashOf({ initiator_id: PREBUILDS_USER })).toBeUndefined();
  expect(hashOf({}, build('initiator', PREBUILDS_USER))).toBeUndefined();
  expect(hashOf({ type: 'template_version_import', metadata: {} })).toBeUndefined();
});

describe('an omitted job', () => {
  it.each([
    { given: { completed_at: null }, why: 'unfinished' },
    { given: { started_at: null }, why: 'never-ran', because: 'it was canceled while it waited' },
    { given: { worker_id: null }, why: 'never-ran', because: 'the reaper writes a start, but no worker' },
    { given: { completed_at: job.started_at }, why: 'never-ran', because: 'it took no time' },
    { given: { completed_at: job.created_at }, why: 'never-ran', because: 'it was canceled, then acquired' },
    {
      given: { completed_at: plusMs(job.started_at, 86_400_001) },
      why: 'too-long',
      because: 'a trace has no longer ones',
    },
    { given: { tags: { scope: 'user', owner: 'somebody' } }, why: 'of-one-user' },
    {
      given: { error: 'hung' as const },
      why: 'hung',
      because: 'it includes the 5 minutes until coderd failed it',
    },
    {
      given: { error: 'hung' as const, completed_at: plusMs(job.started_at, 86_400_001) },
      why: 'hung',
      because: 'the cause says more than the length',
    },
  ])('is omitted as $why with $given', ({ given, why }) => {
    expect(finished({ ...job, ...given })).toBe(why);
  });

  it('is not omitted if a daemon ended it, with any result', () => {
    for (const status of ['succeeded', 'failed', 'canceled'])
      expect(finished({ ...job, status, completed_at: plusMs(job.started_at, 86_400_000) })).toMatchObject({
        status,
      });
  });
});
