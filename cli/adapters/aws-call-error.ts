import { describeAwsError } from '../../lambda/adapters/shared/aws-calls.ts';

/** AWS refused or failed a call of the command line. If a permission is missing, the message names it. */
export class AwsCallError extends Error {
  override readonly name = 'AwsCallError';

  /** `doing`: such as `reading the log group "a"`. `permission`: such as `logs:FilterLogEvents on it`. */
  static of(cause: unknown, doing: string, permission: string): AwsCallError {
    if (cause instanceof AwsCallError) return cause;
    const { reason, isForbidden } = describeAwsError(cause);
    const advice = isForbidden ? `; ask for ${permission}` : '';
    return new AwsCallError(`${doing}: ${reason}${advice}`, { cause });
  }
}
