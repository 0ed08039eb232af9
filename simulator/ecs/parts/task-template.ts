/** The part of a task definition that can be looked at. */
export type TaskTemplate = {
  readonly image: string;
  readonly entryPoint: readonly string[];
  readonly command: readonly string[];
  /** CPU units. */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
  readonly architecture: 'ARM64' | 'X86_64';
};

/** Without a guard, of the size that the configuration has by default. */
export const BARE_TEMPLATE: TaskTemplate = {
  image: 'ghcr.io/coder/coder:v2.30.0',
  entryPoint: ['/opt/coder'],
  command: ['provisioner', 'start'],
  cpu: 1024,
  memory: 2048,
  architecture: 'ARM64',
};
