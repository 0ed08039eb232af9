/** Counts what a client of the AWS SDK sends: `client.middlewareStack.add(counting('ecs', calls), BELOW_RETRIES)`. */
import type { Api, CallCounter } from './calls.ts';

/** Each try of the SDK counts; what AWS answered has been read by then. */
export const BELOW_RETRIES = { step: 'deserialize', priority: 'high', name: 'counting' } as const;

/** docs/aws.md §2, and what other services call it. */
export const THROTTLES: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'Throttling',
  'TooManyRequestsException',
  'RequestLimitExceeded',
]);

export function counting(api: Api, calls: CallCounter) {
  return <In, Out>(next: (args: In) => Promise<Out>) =>
    async (args: In): Promise<Out> => {
      try {
        const answer = await next(args);
        calls.count(api, { throttled: false });
        return answer;
      } catch (cause) {
        calls.count(api, { throttled: cause instanceof Error && THROTTLES.has(cause.name) });
        throw cause;
      }
    };
}
