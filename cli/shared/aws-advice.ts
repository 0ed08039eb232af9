const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /CredentialsProviderError|Could not load credentials|ExpiredToken|UnrecognizedClient|InvalidClientToken/,
    'sign in to AWS first (aws sso login, say) and set AWS_PROFILE',
  ],
  [
    /TimeoutError|requestTimeout|ETIMEDOUT|ENOTFOUND|ECONNREFUSED|EAI_AGAIN/,
    'AWS does not answer from here; check the network (VPN, proxy, VPC endpoint)',
  ],
  [/Region is missing|Region not accepted/, 'set AWS_REGION to the Region of the stack'],
  [/ClusterNotFound/, 'give the name of the cluster with --cluster; the stack prints it'],
  [/^listing tasks.* AccessDenied/, 'ask for ecs:ListTasks and ecs:DescribeTasks in this cluster'],
  [/^reading task protection.* AccessDenied/, 'ask for ecs:GetTaskProtection on the tasks of this cluster'],
  [/^listing services.* AccessDenied/, 'ask for ecs:ListServices and ecs:DescribeServices in this cluster'],
];

/** An error of ECS with what to do about it, where that is known. */
export function withAdvice(error: string): string {
  const advice = ADVICE.find(([pattern]) => pattern.test(error))?.[1];
  return advice === undefined ? error : `${error}; ${advice}`;
}
