/**
 * The settings that only `cdk deploy` uses. All values are complete: reading the file fills in the
 * defaults.
 */
import type { Config, PoolConfig } from '../../decision/model/config.ts';

export type RoleStatement = { readonly actions: readonly string[]; readonly resources: readonly string[] };

/** What Terraform may do in a pool's tasks. */
export type TaskRole =
  | { readonly kind: 'existing'; readonly arn: string }
  | {
      readonly kind: 'own';
      /** ARNs of managed policies. */
      readonly policies: readonly string[];
      readonly statements: readonly RoleStatement[];
    };

export type PoolDeployment = {
  /** Of a Spot pool: so many tasks run on demand before any runs on Spot. */
  readonly spotBase: number;
  /** GiB, 20 (what every task has) to 200. */
  readonly ephemeralStorage: number;
  readonly readonlyRootFilesystem: boolean;
  /** Serves coder's own Prometheus metrics on this port. */
  readonly prometheusPort?: number | undefined;
  readonly taskRole: TaskRole;
};

export type AwsSettings = {
  /** Name of the CloudFormation stack. */
  readonly stack: string;
  readonly network: {
    /** An existing VPC, with `subnets`; absent: one of its own. */
    readonly vpc?: string | undefined;
    /** Private subnets of `vpc`, with a way out. */
    readonly subnets: readonly string[];
    /** Absent: one, egress only. */
    readonly securityGroups: readonly string[];
    /** Of a VPC of its own. */
    readonly natGateways: number;
    /** Of a VPC of its own: interface endpoints for what tasks and function call in AWS. */
    readonly endpoints: boolean;
  };
  /** Name of an existing cluster; absent: one of its own. */
  readonly cluster?: string | undefined;
  readonly logs: {
    /** Name of an existing group for everything; absent: one for the function and one a pool. */
    readonly group?: string | undefined;
    readonly retentionDays: number;
  };
  /** ARN of a key that encrypts logs, queue, topic, schedule and the function's environment. */
  readonly kmsKey?: string | undefined;
  /** ARN of the managed policy that bounds every role. */
  readonly permissionsBoundary?: string | undefined;
  /** New tasks may change the protection of tasks of their own pool only. */
  readonly bindTaskRoles: boolean;
  readonly function: {
    /** MiB. */
    readonly memory: number;
    readonly inVpc: boolean;
    readonly tracing: boolean;
    readonly reservedConcurrency?: number | undefined;
  };
  /** Whether a deployment ends while builds still run on old tasks. */
  readonly earlySuccess: boolean;
  readonly alarms: {
    readonly enabled: boolean;
    /** ARN of an existing SNS topic; absent: one of its own. */
    readonly topic?: string | undefined;
    /** Subscribed to a topic of its own. */
    readonly emails: readonly string[];
  };
  readonly metrics: { readonly perPool: boolean };
  /** On everything that can be tagged. */
  readonly tags: Readonly<Record<string, string>>;
};

export type DeployedPool = PoolConfig & PoolDeployment;

/** The whole file: the decision's part, and what only a deployment asks for. */
export type Deployment = Omit<Config, 'pools'> & {
  readonly pools: readonly DeployedPool[];
  readonly aws: AwsSettings;
};
