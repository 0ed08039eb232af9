/** What a task's container and the world around it say to each other. */
import type { EpochMs, TaskArn } from '../../../lambda/decision/model/brands.ts';

/** The process that runs in a container, as ECS sees it. */
export interface Container {
  /** SIGTERM. */
  terminate(): void;
  /** SIGKILL, or a host that is gone: nothing runs any more; `exit` must not be called afterwards. */
  kill(): void;
  /** Whether it would hurt to stop it now: ECS doesn't know, but the choice of victims can be made unkind. */
  isBusy(): boolean;
  /** Whether it could be given a job at any moment. @default never */
  isWaiting?(): boolean;
  /** Since when it has had nothing to do; undefined while it has. @default not told */
  idleSince?(): EpochMs | undefined;
}

/** What the container finds around it. */
export type ContainerHost = {
  readonly taskArn: TaskArn;
  readonly taskId: string;
  readonly privateIp: string;
  readonly agent: TaskAgent;
  /** Ends the container with this code; ECS then stops the task. */
  readonly exit: (code: number) => void;
};

/** Starts the main process of an image. */
export type StartContainer = (host: ContainerHost) => Container;

/** What the agent endpoint in the task answers (docs/aws.md §1): only the first kind has the word "protection" in it. */
export type AgentAnswer =
  | { readonly kind: 'protection'; readonly enabled: boolean; readonly expiresAt?: EpochMs | undefined }
  | { readonly kind: 'failure'; readonly reason: string }
  | { readonly kind: 'error'; readonly code: string };

/** The agent endpoint: `$ECS_AGENT_URI/task-protection/v1/state` and the task metadata. Answers come later. */
export interface TaskAgent {
  /** PUT: protects the task for so many minutes. */
  protect(minutes: number, onAnswer: (answer: AgentAnswer) => void): void;
  /** PUT: takes the protection away. */
  release(onAnswer: (answer: AgentAnswer) => void): void;
  /** GET. */
  look(onAnswer: (answer: AgentAnswer) => void): void;
  /** `DesiredStatus` of the task metadata: what the agent has been told so far. */
  desiredStatus(): 'RUNNING' | 'STOPPED';
}
