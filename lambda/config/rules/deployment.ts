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
  /** In a Spot pool, this many tasks run on demand before any task runs on Spot. */
  readonly spotBase: number;
  /** GiB: 20, which every task has, to 200. */
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
    /** The id of an existing VPC. Absent: the stack makes one. */
    readonly vpc?: string | undefined;
    /** Private subnets of `vpc` with egress. */
    readonly subnets: readonly string[];
    /** Of `vpc`. Empty: the stack makes one without ingress rules. */
    readonly securityGroups: readonly string[];
    /** Of the VPC that the stack makes. */
    readonly natGateways: number;
    /** Whether the VPC that the stack makes has interface endpoints for its calls to AWS. */
    readonly endpoints: boolean;
  };
  /** The name of an existing cluster. Absent: the stack makes one. */
  readonly cluster?: string | undefined;
  readonly logs: {
    /**
     * The name of an existing group for all logs. Absent: one for the function and one for each
     * pool.
     */
    readonly group?: string | undefined;
    readonly retentionDays: number;
  };
  /** ARN of a key that encrypts logs, queue, topic, schedule and the function's environment. */
  readonly kmsKey?: string | undefined;
  /** ARN of the managed policy that is the permissions boundary of every role. */
  readonly permissionsBoundary?: string | undefined;
  /** Whether new tasks can change the protection of tasks of their own pool only. */
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
    /** ARN of an existing SNS topic. Absent: the stack makes one. */
    readonly topic?: string | undefined;
    /** Addresses that the stack subscribes to its own topic. */
    readonly emails: readonly string[];
  };
  readonly metrics: { readonly perPool: boolean };
  /** The stack gives them to every resource that can have tags. */
  readonly tags: Readonly<Record<string, string>>;
};

export type DeployedPool = PoolConfig & PoolDeployment;

/** The whole file: the settings of the decision and those of a deployment. */
export type Deployment = Omit<Config, 'pools'> & {
  readonly pools: readonly DeployedPool[];
  readonly aws: AwsSettings;
};
