import { expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { Job } from '../../../lambda/decision/model/snapshot.ts';
import { aConfig, aJob, anOrganization, aPool, aSnapshot, reading } from '../../support/parts.ts';

const config = aConfig(aPool({ tags: { cluster: 'cpu' } }));
const planOf = (jobs: readonly Job[]) =>
  decide(aSnapshot({ organizations: [anOrganization({ jobs: reading(jobs) })] }), config);

it('names the types of unschedulable jobs for each tag group, in order and once', () => {
  const gpu = { tags: { cluster: 'gpu' } };
  const tpu = { tags: { cluster: 'tpu' } };
  const plan = planOf([
    aJob({ ...gpu, type: 'workspace_build' }),
    aJob({ ...gpu, type: 'template_version_import' }),
    aJob({ ...gpu, type: 'workspace_build' }),
    aJob({ ...tpu, type: 'template_version_dry_run' }),
    aJob({ ...tpu, type: 'workspace_build', status: 'running' }),
  ]);
  expect(plan.unserved.map(({ tags, types }) => ({ tags, types }))).toEqual([
    { tags: { cluster: 'gpu' }, types: ['template_version_import', 'workspace_build'] },
    { tags: { cluster: 'tpu' }, types: ['template_version_dry_run'] },
  ]);
});

it('reads a job as often with a hundred unschedulable tag groups as with one', () => {
  const readsWith = (groups: number): number => {
    let reads = 0;
    const jobs = Array.from({ length: 100 }, (_, index) =>
      Object.defineProperty(aJob({ tags: { cluster: `gpu-${index % groups}` } }), 'status', {
        get: () => {
          reads += 1;
          return 'pending';
        },
      }),
    );
    expect(planOf(jobs).unserved).toHaveLength(groups);
    return reads;
  };
  expect(readsWith(100)).toBe(readsWith(1));
});
