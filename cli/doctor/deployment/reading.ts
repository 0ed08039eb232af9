/** Reads for one check with the person's permissions: without one, the check is not looked at, and others go on. */
import { NoAnswerError } from '../../../lambda/adapters/shared/aws-calls.ts';
import { messageOf } from '../../../lambda/decision/model/message-of.ts';
import { PATIENT, withAdvice } from '../../shared/aws-advice.ts';
import type { Check } from '../check/check.ts';

/** Settings of the clients of these checks. */
export const CLIENT = { requestHandler: PATIENT, maxAttempts: 2 } as const;

/** The value, or the check that says why there is none. */
export type Read<T> = { readonly value: T } | { readonly check: Check };

type Asked = {
  readonly name: string;
  /** The action of IAM, such as `scheduler:GetSchedule`. */
  readonly permission: string;
  readonly until: AbortSignal;
};

/** `read` gets the options of `send`, which end the request in time. */
export async function tryRead<T>(
  { name, permission, until }: Asked,
  read: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<Read<T>> {
  try {
    return { value: await read({ abortSignal: until }) };
  } catch (cause) {
    if (DENIED.test(nameOf(cause))) return { check: notLooked(name, `needs ${permission}`) };
    const said =
      until.aborted || cause instanceof NoAnswerError ? 'AWS did not answer in time' : errorText(cause);
    return { check: notLooked(name, said) };
  }
}

export const notLooked = (name: string, why: string): Check => ({
  name,
  status: 'skip',
  says: `not looked: ${why}`,
});

/** CloudFormation has another name for it than the services with JSON. */
const DENIED = /^(?:AccessDenied|AccessDeniedException)$/;

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : '');

const errorText = (cause: unknown): string => withAdvice(`${nameOf(cause)}: ${messageOf(cause)}`);

/** Whether AWS says that the resource does not exist. */
export function isMissing(cause: unknown): boolean {
  return /^(?:ResourceNotFoundException|NotFoundException)$/.test(nameOf(cause));
}

/** The command that restores what CloudFormation's template has, and a person removed. */
export const REVERT = 'npx cdk deploy --revert-drift';
