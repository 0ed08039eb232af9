/** The part of a task definition that DescribeTaskDefinition shows. */
export type TaskTemplate = {
  readonly image: string;
  readonly entryPoint: readonly string[];
  readonly command: readonly string[];
  /** CPU units (1024 is one vCPU). */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
  readonly architecture: 'ARM64' | 'X86_64';
  /** The CloudWatch log group of the container. */
  readonly logGroup: string;
};

/** A task without a guard, of the configuration's default size. */
export const BARE_TEMPLATE: TaskTemplate = {
  image: 'ghcr.io/coder/coder:v2.30.0',
  entryPoint: ['/opt/coder'],
  command: ['provisioner', 'start'],
  cpu: 1024,
  memory: 2048,
  architecture: 'ARM64',
  logGroup: 'coder-provisioners',
};
