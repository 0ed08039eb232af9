import { afterEach, beforeEach, vi } from 'vitest';
import { ACCESS_KEY_OF_A_PERSON } from '../../lab/world/aws-http.ts';
import { type Lab, type LabOptions, startLongLab } from './lab.ts';

/** Gives the tests of a file the AWS credentials of a person. What they stub ends with each test. */
export function asPerson(): void {
  beforeEach(() => vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON));
  afterEach(() => vi.unstubAllEnvs());
}

/** Starts labs for a test file that runs commands as a person. */
export function ownLabs(): (options: LabOptions) => Promise<Lab> {
  asPerson();
  return async (options) => {
    const lab = await startLongLab(options);
    for (const service of ['CLOUDWATCH_LOGS', 'KMS', 'SCHEDULER', 'SERVICE_QUOTAS'])
      vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, lab.awsUrl);
    return lab;
  };
}
