/**
 * Counts the requests of an AWS SDK client:
 * `client.middlewareStack.add(counting('ecs', calls), BELOW_RETRIES)`.
 */
import type { Api, CallCounter } from './calls.ts';

/** At this step each try of the SDK counts, and the SDK has parsed AWS's answer. */
export const BELOW_RETRIES = { step: 'deserialize', priority: 'high', name: 'counting' } as const;

/** Names of throttling errors: ECS's (docs/aws.md §2), and those of other services. */
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
