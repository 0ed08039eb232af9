/** What an AWS account has beside its resources: stacks by name, and quotas with their requests. */
export class AccountModel {
  readonly id = '123456789012';
  readonly stacks = new Map<string, string>();
  /** By code. A new account has 6 vCPUs of Fargate, on demand and on Spot (docs/internals/aws.md §2). */
  readonly quotas = new Map([
    ['L-3032A538', 6],
    ['L-36FBB829', 6],
  ]);
  readonly requested = new Map<string, number>();
}
