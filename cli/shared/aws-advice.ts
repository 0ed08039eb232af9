/** Advice for the errors of AWS, and what is missing before any request is sent. */
import type { ECSClient } from '@aws-sdk/client-ecs';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { InputError } from './cli-environment.ts';

/** Timeouts of a client: a call without an answer must not block the command. */
export const PATIENT = {
  connectionTimeout: 5_000,
  requestTimeout: 10_000,
  throwOnRequestTimeout: true,
} as const;

type Advice = readonly (readonly [RegExp, string])[];

const SIGN_IN = 'Sign in to AWS first (for example with aws sso login) and set AWS_PROFILE';
const SET_REGION = 'Set AWS_REGION to the Region of the stack';

/** What concerns this machine or its user, and so every request. */
const EVERYWHERE: Advice = [
  [
    /CredentialsProviderError|Could not load credentials|ExpiredToken|UnrecognizedClient|InvalidClientToken/,
    SIGN_IN,
  ],
  [
    /TimeoutError|requestTimeout|timed out: |request timed out|Secrets Manager did not return|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN/,
    'AWS does not answer. Check AWS_REGION and the network (VPN, proxy, VPC endpoint)',
  ],
  [/Region is missing|Region not accepted/, SET_REGION],
];

const ADVICE: Advice = [
  ...EVERYWHERE,
  [/ClusterNotFound/, 'Give the name of the cluster with --cluster (an output of the stack)'],
  [/^listing tasks.* AccessDenied/, 'You need ecs:ListTasks and ecs:DescribeTasks in this cluster'],
  [/^reading task protection.* AccessDenied/, 'You need ecs:GetTaskProtection on the tasks of this cluster'],
  [/^listing services.* AccessDenied/, 'You need ecs:ListServices and ecs:DescribeServices in this cluster'],
];

export function withAdvice(error: string): string {
  // the error of coderd has its own advice
  if (/no answer from coderd|coderd began to answer/.test(error)) return error;
  const advice = ADVICE.find(([pattern]) => pattern.test(error))?.[1];
  return advice === undefined ? error : `${error.replace(/\.$/, '')}. ${advice}`;
}

/** Whether every other request to AWS would fail too. */
export function isEverywhere(error: string): boolean {
  return EVERYWHERE.some(([pattern]) => pattern.test(error));
}

type AwsSetup = { readonly region: string } | { readonly problem: string };

/** Reads the Region and the credentials that the AWS SDK finds here. Sends no request to ECS. */
export async function readAwsSetup({ config }: Pick<ECSClient, 'config'>): Promise<AwsSetup> {
  let region: string;
  try {
    region = await config.region();
  } catch (cause) {
    const seen = messageOf(cause)
      .replace(/^(?:Error: )?Region is missing$/, 'none is set')
      .replace(/\.$/, '');
    return { problem: `finding the AWS Region: ${seen}. ${SET_REGION}` };
  }
  try {
    await config.credentials();
    return { region };
  } catch (cause) {
    return { problem: `finding AWS credentials: ${messageOf(cause).replace(/\.$/, '')}. ${SIGN_IN}` };
  }
}

/** Throws InputError if there is no Region or no credentials: then no list is readable. */
export async function checkAwsSetup(ecs: ECSClient): Promise<void> {
  const setup = await readAwsSetup(ecs);
  if ('problem' in setup) throw new InputError(setup.problem);
}
