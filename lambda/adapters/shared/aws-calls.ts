/** Counts, limits and ends the requests of an AWS SDK client, and describes its errors. */
import type { Api, CallCounter } from './calls.ts';

/** A call to AWS without an answer must not block the invocation. */
export const AWS_TIMEOUTS = {
  connectionTimeout: 2_000,
  requestTimeout: 5_000,
  throwOnRequestTimeout: true,
} as const;

/** At this step each try of the SDK counts, and the SDK has parsed AWS's answer. */
export const BELOW_RETRIES = { step: 'deserialize', priority: 'high', name: 'counting' } as const;

/** Names of throttling errors: ECS's (docs/internals/aws.md §2), and those of other services. */
export const THROTTLES: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'Throttling',
  'TooManyRequestsException',
  'RequestLimitExceeded',
]);

/** Describes an error of the SDK. Its name is the code that AWS sent. */
export function describeAwsError(cause: unknown): { readonly reason: string; readonly isForbidden: boolean } {
  if (!(cause instanceof Error)) return { reason: String(cause), isForbidden: false };
  const { name, message } = cause;
  return { reason: `${name}: ${message}`, isForbidden: isDenied(cause) };
}

/** Whether AWS refused a call because a permission is missing. */
export function isDenied(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'AccessDeniedException';
}

export function counting(api: Api, calls: CallCounter) {
  return <In, Out>(next: (args: In) => Promise<Out>) =>
    async (args: In): Promise<Out> => {
      try {
        const answer = await next(args);
        calls.count(api, { throttled: false, isAnswered: true });
        return answer;
      } catch (cause) {
        const throttled = cause instanceof Error && THROTTLES.has(cause.name);
        calls.count(api, { throttled, isAnswered: isServiceError(cause) });
        throw cause;
      }
    };
}

/** Whether AWS answered with an error. The SDK's own errors, such as a timeout, have no `$fault`. */
function isServiceError(cause: unknown): boolean {
  return cause instanceof Error && '$fault' in cause;
}

/** At this step each try of the SDK ends with the signal, and none begins after it. */
export const EACH_TRY = { step: 'deserialize', priority: 'high', name: 'ending' } as const;

/** The same step: a retry must not use a dead connection either. */
export const BEFORE_EACH_TRY = { step: 'deserialize', priority: 'high', name: 'closing' } as const;

/** AWS did not answer in the time that the caller has. The SDK does not try again after it. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** Ends all requests of a client: `client.middlewareStack.add(endingWith(until), EACH_TRY)`. */
export function endingWith(until: AbortSignal) {
  return <In, Out>(next: (args: In) => Promise<Out>) =>
    async (args: In): Promise<Out> => {
      const { promise: ended, reject } = Promise.withResolvers<never>();
      const onAbort = (): void => reject(causeOf(until));
      if (until.aborted) onAbort();
      until.addEventListener('abort', onAbort, { once: true });
      try {
        return await Promise.race([ended, until.aborted ? ended : next(args)]);
      } finally {
        until.removeEventListener('abort', onAbort);
      }
    };
}

function causeOf({ reason }: AbortSignal): NoAnswerError {
  return reason instanceof NoAnswerError ? reason : new NoAnswerError('the request timed out');
}
