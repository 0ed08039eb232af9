/**
 * A night on call in the simulated world: the schedule invokes the function each minute, and CloudWatch evaluates the
 * alarms.
 */
import type { TemplateRecord } from '../../../../../lab/world/coderd/tables/templates.ts';
import type { EcsTask } from '../../../../../lab/world/ecs/task.ts';
import { plusMs } from '../../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../../../../lambda/decision/model/units.ts';
import { InvocationError } from '../../../../../lambda/look/invocation.ts';
import type { LookResult } from '../../../../../lambda/look/look.ts';
import { lookEvent } from '../../../../../lambda/look/look-event.ts';
import type { Ports } from '../../../../../lambda/look/ports.ts';
import { waitLine } from '../../../../../lambda/look/waits/wait-line.ts';
import { WaitRecord } from '../../../../../lambda/look/waits/wait-record.ts';
import { FullViewAge } from '../../../../../lambda/telemetry/full-view-age.ts';
import { lookMetrics, rareMetrics } from '../../../../../lambda/telemetry/look-metrics.ts';
import { type CommandLab, putLine } from '../../../../support/command-lab.ts';
import { invokeOnce, type Lab, type LabPool } from '../../../../support/lab.ts';
import { CloudWatch } from '../cloudwatch.ts';

export const KMS_KEY = 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f';

export const CPU: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 4 };

export class Night<L extends Lab = CommandLab> {
  readonly lab: L;
  readonly cloudWatch = new CloudWatch();
  /** What a closed route makes of the function's ports. */
  route: (ports: Ports) => Ports = (ports) => ports;
  /** The last look that the log has. */
  last: LookResult | undefined;
  /** Whether the function's process begins. */
  isRunning = true;
  /** Whether people start a workspace each four minutes. */
  people = true;
  #eachMinute: (minute: number) => void = () => {};
  readonly #age: FullViewAge;
  readonly #waits = new WaitRecord();
  readonly #templates = new Map<string, TemplateRecord>();
  #minute = 0;

  constructor(lab: L) {
    this.lab = lab;
    this.#age = new FullViewAge({ now: () => lab.world.timeline.now(), sleep: async () => {} });
  }

  get world(): Lab['world'] {
    return this.lab.world;
  }

  /** People start so many workspaces, each of which builds for so long. */
  submit(workspaces: number, minutes = 1, tags: Tags = {}): void {
    const { coderd } = this.world;
    const key = JSON.stringify(tags);
    const template = this.#templates.get(key) ?? coderd.addTemplate({ organization: 'default', tags });
    this.#templates.set(key, template);
    for (let count = 0; count < workspaces; count++)
      coderd.build(coderd.workspaces.add({ template }), 'start', { durationMs: minutes * MINUTE_MS });
  }

  /** From now on this happens at the start of each minute. */
  always(eachMinute: (minute: number) => void): void {
    this.#eachMinute = eachMinute;
  }

  openRoutes(): void {
    this.route = (ports) => ports;
  }

  /** Tasks of the pool that ECS wants to run. */
  tasks(pool = 'cpu'): readonly EcsTask[] {
    return [...this.world.service(pool).tasks].filter(({ isWanted }) => isWanted);
  }

  cancelWaiting(): void {
    for (const job of this.world.coderd.openJobs())
      if (job.startedAt === undefined) this.world.coderd.cancelJob(job.id);
  }

  async pass(minutes: number): Promise<void> {
    for (let passed = 0; passed < minutes; passed++) {
      const { timeline } = this.world;
      const nextAt = plusMs(timeline.now(), MINUTE_MS);
      this.#minute += 1;
      if (this.people && this.#minute % 4 === 1) this.submit(1, 2);
      this.#eachMinute(this.#minute);
      if (this.world.account.schedule === 'ENABLED') await this.#invoke();
      timeline.advanceTo(nextAt);
      this.cloudWatch.endMinute();
    }
  }

  async #invoke(): Promise<void> {
    const { world, config } = this.lab;
    if (!this.isRunning) {
      this.cloudWatch.put({ Errors: 1 });
      return;
    }
    try {
      const ports = this.route(this.lab.ports());
      await invokeOnce({ world, config, ports, onLook: (result) => this.#publish(result) });
      this.cloudWatch.put({ Errors: 0 });
    } catch (error) {
      if (!(error instanceof InvocationError)) throw error;
      this.cloudWatch.put({ Errors: 1 });
    }
  }

  #publish(result: LookResult): void {
    // metrics travel in the log
    if (this.world.logs.events(this.world.logGroupName) === undefined) return;
    this.last = result;
    const { waits, missed } = this.#waits.after(result, 400);
    const event = lookEvent({ result, calls: {}, durationMs: 400 }, missed);
    putLine(this.lab, { message: 'look', ...event });
    for (const wait of waits) putLine(this.lab, { message: 'wait', ...waitLine(wait) });
    this.cloudWatch.put(lookMetrics(result, event, this.#age.after(result.plan)));
    this.cloudWatch.put(rareMetrics(result.plan));
  }
}
