/** What `autoscaler explain-job` prints of the error that coderd stores with a job. */
import { expect, it } from 'vitest';
import { explanationScreen } from '../../../cli/explain-job/screen.ts';

const AT = '2026-03-02T09:00:00.000Z';
const JOB = {
  ...{ id: 'job-1', organization: 'default', type: 'workspace_build', transition: 'start' },
  ...{ template: 'linux', workspace: 'alice/dev', tags: {}, status: 'failed' },
  ...{ createdAt: AT, startedAt: AT, canceledAt: null, completedAt: AT },
};

it('prints the error on one line, without the characters that change a terminal', () => {
  const error = 'terraform apply:\u001b[31m exit\r\n\tstatus 1\u009b2J\u202e\n';
  const screen = explanationScreen({
    ...{ takenAt: AT, wait: null, silent: null, pending: null, died: null, notes: [] },
    job: { ...JOB, error },
  });
  expect(screen.split('\n').at(-1)).toBe('  error: terraform apply: exit status 1 ');
});
