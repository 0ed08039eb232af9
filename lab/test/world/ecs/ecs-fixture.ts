import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { EcsModel, type EcsOptions, type NewService } from '../../../world/ecs/model.ts';
import type { Container, ContainerHost, StartContainer } from '../../../world/ecs/parts/container.ts';
import type { EcsService } from '../../../world/ecs/service.ts';
import type { EcsTask } from '../../../world/ecs/task.ts';

export const START = Date.UTC(2026, 10, 20, 9) as EpochMs;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** A container that a test controls. By default it exits with 0 at SIGTERM. */
export class TestContainer implements Container {
  readonly host: ContainerHost;
  readonly signals: string[] = [];
  ignoresSigterm = false;
  busy = false;

  constructor(host: ContainerHost) {
    this.host = host;
  }

  terminate(): void {
    this.signals.push('SIGTERM');
    if (!this.ignoresSigterm) this.host.exit(0);
  }

  kill(): void {
    this.signals.push('SIGKILL');
  }

  isBusy(): boolean {
    return this.busy;
  }
}

/** A simulated ECS with one service of `TestContainer`s, and its clock. */
export class Fixture {
  readonly timeline = new Timeline(START);
  readonly ecs: EcsModel;
  readonly service: EcsService;
  readonly containers = new Map<string, TestContainer>();
  readonly image: StartContainer = (host) => {
    const container = new TestContainer(host);
    this.containers.set(host.taskId, container);
    return container;
  };

  constructor(options: Partial<EcsOptions> = {}, service: Partial<NewService> = {}) {
    this.ecs = new EcsModel({ timeline: this.timeline, random: new Random(7), ...options });
    const definition = this.ecs.registerTaskDefinition('Family', this.image);
    this.service = this.ecs.createService({ name: 'Stack-Service-A1', definition, ...service });
  }

  pass(ms: number): void {
    this.timeline.advanceTo((this.timeline.now() + ms) as EpochMs);
  }

  desire(count: number): void {
    this.ecs.setDesiredCount(this.service.identity.name, count);
  }

  deploy(): void {
    const definition = this.ecs.registerTaskDefinition('Family', this.image);
    this.ecs.deploy(this.service.identity.name, definition);
  }

  /** The service's tasks that ECS wants to run. */
  tasks(): readonly EcsTask[] {
    return [...this.service.tasks];
  }

  running(): readonly EcsTask[] {
    return this.ecs.tasks().filter((task) => task.state.lastStatus === 'RUNNING');
  }

  firstTask(): EcsTask {
    const [task] = this.tasks();
    if (task === undefined) throw new Error('looking for a task: the service has none; let time pass');
    return task;
  }

  container(task: EcsTask): TestContainer {
    const container = this.containers.get(task.identity.id);
    if (container === undefined) throw new Error('looking for a container: the task has not started it');
    return container;
  }
}
