/** The interface between a task's container and its host. */
import type { EpochMs, TaskArn } from '../../../../lambda/decision/model/brands.ts';

/** The process that runs in a container, as ECS sees it. */
export interface Container {
  terminate(): void;
  /** SIGKILL, or the host has failed: nothing runs any more, and `exit` must not be called afterwards. */
  kill(): void;
  /** ECS does not know it, but the simulator can choose the worst victims with it. */
  isBusy(): boolean;
  /** Whether it could get a job at any moment. @default false */
  isWaiting?(): boolean;
  /** Since when it has had no work; undefined while it has. @default undefined */
  idleSince?(): EpochMs | undefined;
}

export type ContainerHost = {
  readonly taskArn: TaskArn;
  readonly taskId: string;
  readonly privateIp: string;
  readonly agent: TaskAgent;
  /** Ends the container with this exit code; ECS then stops the task. */
  readonly exit: (code: number) => void;
};

export type StartContainer = (host: ContainerHost) => Container;

/** docs/internals/aws.md §1. Only the first kind contains the word "protection". */
export type AgentAnswer =
  | { readonly kind: 'protection'; readonly enabled: boolean; readonly expiresAt?: EpochMs | undefined }
  | { readonly kind: 'failure'; readonly reason: string }
  | { readonly kind: 'error'; readonly code: string };

/** `$ECS_AGENT_URI/task-protection/v1/state` and the task metadata. Answers come after a latency. */
export interface TaskAgent {
  protect(minutes: number, onAnswer: (answer: AgentAnswer) => void): void;
  release(onAnswer: (answer: AgentAnswer) => void): void;
  look(onAnswer: (answer: AgentAnswer) => void): void;
  /** `DesiredStatus` in the task metadata: what ECS has told the agent so far. */
  desiredStatus(): 'RUNNING' | 'STOPPED';
}

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
  readonly logGroup: string;
  /** @default the API shows none */
  readonly taskRoleArn?: string;
  /** From SIGTERM to SIGKILL. */
  readonly stopTimeoutS: number;
};

/** Whether its role may change the protection of its own pool's tasks only (infra/constructs/pool/pool-roles.ts). */
export function hasBoundRole({ taskRoleArn = '' }: TaskTemplate): boolean {
  return taskRoleArn.includes('BoundTaskRole');
}

/** A task without a guard, of the configuration's default size. */
export const BARE_TEMPLATE: TaskTemplate = {
  image: 'ghcr.io/coder/coder:v2.30.0',
  entryPoint: ['/opt/coder'],
  command: ['provisioner', 'start'],
  cpu: 1024,
  memory: 2048,
  architecture: 'ARM64',
  logGroup: 'coder-provisioners',
  // as infra/constructs/pool/pool-task.ts sets it
  stopTimeoutS: 120,
};
