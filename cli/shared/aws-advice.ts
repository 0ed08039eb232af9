const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /CredentialsProviderError|Could not load credentials|ExpiredToken|UnrecognizedClient|InvalidClientToken/,
    'Sign in to AWS first (for example with aws sso login) and set AWS_PROFILE',
  ],
  [
    /TimeoutError|requestTimeout|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN/,
    'AWS does not answer. Check the network (VPN, proxy, VPC endpoint)',
  ],
  [/Region is missing|Region not accepted/, 'Set AWS_REGION to the Region of the stack'],
  [/ClusterNotFound/, 'Give the name of the cluster with --cluster (an output of the stack)'],
  [/^listing tasks.* AccessDenied/, 'You need ecs:ListTasks and ecs:DescribeTasks in this cluster'],
  [/^reading task protection.* AccessDenied/, 'You need ecs:GetTaskProtection on the tasks of this cluster'],
  [/^listing services.* AccessDenied/, 'You need ecs:ListServices and ecs:DescribeServices in this cluster'],
];

/** Adds advice to the text of an AWS error, if the error is a known one. */
export function withAdvice(error: string): string {
  const advice = ADVICE.find(([pattern]) => pattern.test(error))?.[1];
  return advice === undefined ? error : `${error.replace(/\.$/, '')}. ${advice}`;
}
