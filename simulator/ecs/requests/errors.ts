/** An error answer of an AWS service: HTTP 400 with a type and a message. */
export class AwsError extends Error {
  override readonly name = 'AwsError';
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

export const invalidParameter = (message: string): AwsError =>
  new AwsError('InvalidParameterException', message);
export const throttled = (): AwsError => new AwsError('ThrottlingException', 'Rate exceeded');
export const clusterNotFound = (): AwsError => new AwsError('ClusterNotFoundException', 'Cluster not found.');
export const serviceNotFound = (): AwsError => new AwsError('ServiceNotFoundException', 'Service not found.');
export const serviceNotActive = (): AwsError =>
  new AwsError('ServiceNotActiveException', 'Service was not ACTIVE.');

/** Who calls: the role of the autoscaler and its tasks, that of the key function, or a person. */
export type Caller = 'autoscaler' | 'keys' | 'person';
