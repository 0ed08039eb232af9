/** The errors of the Lambda function that no single look causes. */

/** The environment of the function lacks a variable, or a variable is empty. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** coderd or ECS did not answer before the end of the invocation. */
export class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}
