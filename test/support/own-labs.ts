import { afterEach, beforeEach, vi } from 'vitest';
import { ACCESS_KEY_OF_A_PERSON } from '../../simulator/aws-http.ts';
import { type Lab, type LabOptions, startLongLab } from './lab.ts';

/** Starts labs for a test file that runs commands as a person. They close after each test. */
export function ownLabs(): (options: LabOptions) => Promise<Lab> {
  const opened: Lab[] = [];
  beforeEach(() => vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON));
  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const lab of opened.splice(0)) await lab.close();
  });
  return async (options) => {
    const lab = await startLongLab(options);
    vi.stubEnv('AWS_ENDPOINT_URL_CLOUDWATCH_LOGS', lab.awsUrl);
    opened.push(lab);
    return lab;
  };
}
