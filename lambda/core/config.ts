import type { PoolName } from './brands.ts';
import type { Tags } from './tags.ts';

/** Where a secret value lies: a Secrets Manager name or ARN and, if it is JSON, the key in it. */
export type SecretRef = { readonly secret: string; readonly jsonKey?: string | undefined };

export type Architecture = 'arm64' | 'x86_64';

/**
 * How a pool is scaled in. `lease`: the guard in each task protects it, and leaves when asked. `confirm`: for images without sh or
 * curl; the autoscaler itself protects busy tasks and looks again just before it lowers a count. `never`: as `confirm`, but
 * no count is ever lowered.
 */
export type ScaleIn = 'lease' | 'confirm' | 'never';

/** One pool = one ECS service. All values are complete: defaults are filled in when the file is read. */
export type PoolConfig = {
  readonly name: PoolName;
  /** Name or UUID of the coderd organization. */
  readonly organization: string;
  /** As written by the user; `normalizeTags` makes the tag set of it. */
  readonly tags: Tags;
  readonly key: SecretRef;
  /** Tasks. */
  readonly min: number;
  /** Tasks. */
  readonly max: number;
  /** Daemons kept free, on top of the busy ones. */
  readonly warm: number;
  readonly idleTimeoutMs: number;
  readonly scaleIn: ScaleIn;
  readonly image: string;
  /** Fargate CPU units, 1024 = 1 vCPU. */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
  readonly architecture: Architecture;
  /** Runs on Fargate Spot: cheaper, and AWS may take a task back with two minutes' notice. */
  readonly spot: boolean;
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, SecretRef>>;
};

export type Config = {
  readonly coder: { readonly url: string; readonly token: SecretRef; readonly caBundle?: string | undefined };
  /** Jobs that wait longer are a finding. */
  readonly alertAfterMs: number;
  readonly limits: { readonly maxTasks: number };
  readonly looks: { readonly everyMs: number };
  /** The share of a pool's tasks that is replaced at a time after a deployment, 1 to 100. */
  readonly roll: { readonly atOncePercent: number };
  readonly pools: readonly PoolConfig[];
};
