/**
 * The function of a deployment, as EventBridge, SQS and Lambda run it: once a minute and with each message, in a free
 * process or else in a new one. Time is that of the world. The looks are the product's own.
 */
import { RecordParameter } from '../../../lambda/adapters/parameters/record-parameter.ts';
import { SqsQueue } from '../../../lambda/adapters/sqs-queue.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import { recordNameOf } from '../../../lambda/decision/model/service-tags.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { runLooks } from '../../../lambda/look/invocation.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { LookMemory } from '../../../lambda/look/look-memory.ts';
import type { Ports } from '../../../lambda/look/ports.ts';
import { type LookMessage, Relay } from '../../../lambda/look/relay/relay.ts';
import { KeptRecord } from '../../../lambda/look/stock/kept-record.ts';
import { StockLearner } from '../../../lambda/look/stock/stock-learner.ts';
import { type StartedWaits, WaitRecord } from '../../../lambda/look/waits/wait-record.ts';
import type { Random } from '../base/random.ts';
import type { VirtualScheduler } from '../base/virtual-scheduler.ts';
import type { Call } from '../coderd/routes/in-process.ts';
import type { Range } from '../ecs/parts/latencies.ts';
import { QueueModel } from '../queue/model.ts';
import type { World } from '../world.ts';
import { type AwsCall, atOnce, inProcessParameters, inProcessPorts, inProcessQueue } from './ports.ts';

const TIMEOUT_MS = 55_000;
/** Assumption: Lambda keeps a process for 1 to 6 hours. */
const LIFE_MS: Range = [HOUR_MS, 6 * HOUR_MS];
/** After the full minute, when coderd's executor runs; a real schedule has any offset. */
const PHASE_MS = 20_000;
const QUEUE_URL = 'https://sqs.eu-central-1.amazonaws.com/123456789012/looks';

export type Line = {
  readonly coderd: Call;
  readonly ecs: AwsCall;
  /** Those to Secrets Manager, Systems Manager and SQS. */
  readonly others: AwsCall;
};

export type Invoked = {
  readonly startedAt: number;
  /** Undefined: it did not fail. */
  readonly error: unknown;
};

type FunctionOptions = {
  readonly world: World;
  readonly scheduler: VirtualScheduler;
  /** The stack of the function. @default that of the world */
  readonly stack?: string;
  /** The configuration that is deployed now. An invocation keeps the one that it started with. */
  readonly config: () => Config;
  readonly random: Random;
  /** How long Lambda keeps a process. Its memory is lost with it. @default 1 to 6 hours */
  readonly lifeMs?: Range;
  /** Called for each invocation. @default each request is answered at once */
  readonly line?: () => Line;
  /** Called after each look, with the waits of the jobs that started since the last one, and the number of the process. */
  readonly onLook: (look: LookResult, durationMs: number, started: StartedWaits, process: number) => void;
  /** Whether each wait has what was promised, as in the deployed function. It takes time. @default false */
  readonly isPromising?: boolean;
  /** Called when an invocation ends. */
  readonly onInvoked: (end: Invoked) => void;
  /** Called if a message could not be sent. @default nothing */
  readonly onSendFailure?: (cause: unknown) => void;
};

/** A process of the function, with what it keeps from one invocation to the next. */
type Process = {
  /** Of the function's processes: 1 for the first. */
  readonly number: number;
  readonly newPorts: () => Ports;
  /** The looks of a minute share them, as in lambda/handler.ts. */
  ports: Ports;
  readonly waits: WaitRecord;
  readonly endsAt: number;
  /** Of its present invocation. */
  line: Line;
};

const DIRECT: Line = { coderd: atOnce, ecs: atOnce, others: atOnce };

export class InProcessFunction {
  readonly queue: QueueModel;
  readonly #options: FunctionOptions;
  #started = 0;
  /** The processes without an invocation. One that crashes never becomes free. */
  #free: Process[];

  constructor(options: FunctionOptions) {
    this.#options = options;
    this.queue = new QueueModel(options.scheduler);
    // as AutoscalerFunction sets it (infra/constructs/function/autoscaler-function.ts)
    this.queue.recursiveLoop = 'Allow';
    this.queue.handler = (body) => this.invoke(JSON.parse(body) as LookMessage);
    this.#free = [this.#start()];
  }

  /** Invokes the function once a minute. It stops when the world no longer advances. */
  async run(phaseMs = PHASE_MS): Promise<never> {
    const { scheduler } = this.#options;
    await scheduler.wait(phaseMs);
    for (;;) {
      void this.invoke();
      await scheduler.wait(MINUTE_MS);
    }
  }

  async invoke(message?: LookMessage): Promise<void> {
    const { scheduler, config, line, onLook, onInvoked } = this.#options;
    const startedAt = scheduler.now();
    const process = this.#freeProcess(startedAt);
    process.line = line?.() ?? DIRECT;
    if (message === undefined) process.ports = process.newPorts();
    let error: unknown;
    try {
      await runLooks({
        ports: process.ports,
        config: config(),
        message,
        remainingMs: () => startedAt + TIMEOUT_MS - scheduler.now(),
        onLook: (look, durationMs) => {
          const { promises, ...told } = look;
          const noted = this.#options.isPromising ? look : told;
          onLook(look, durationMs, process.waits.after(noted, durationMs), process.number);
        },
      });
    } catch (cause) {
      error = cause;
    }
    this.#free.push(process);
    onInvoked({ startedAt, error });
  }

  /** AWS promises no order in which Lambda wakes the free processes. */
  #freeProcess(now: number): Process {
    this.#free = this.#free.filter(({ endsAt }) => now < endsAt);
    const { length } = this.#free;
    const [free] = this.#free.splice(length > 1 ? this.#options.random.whole(0, length - 1) : 0, 1);
    return free ?? this.#start();
  }

  #start(): Process {
    const { world, scheduler, stack, random, lifeMs = LIFE_MS, onSendFailure = () => {} } = this.#options;
    const others: AwsCall = (answer, operation) => process.line.others(answer, operation);
    const stock = new StockLearner();
    const waits = new WaitRecord();
    const record = new KeptRecord({
      learner: stock,
      store: new RecordParameter(
        inProcessParameters(world.parameters, others),
        recordNameOf(stack ?? world.stackName),
      ),
      clock: { now: () => scheduler.now(), sleep: (ms) => scheduler.wait(ms) },
      onFailure: () => {},
    });
    const newPorts = inProcessPorts(world, {
      scheduler,
      stack,
      coderd: (answer) => process.line.coderd(answer),
      ecs: (answer, operation) => process.line.ecs(answer, operation),
      secrets: others,
      stock,
      memory: new LookMemory(),
      record,
      relay: new Relay(new SqsQueue(inProcessQueue(this.queue, others), QUEUE_URL), onSendFailure),
    });
    const process: Process = {
      number: ++this.#started,
      newPorts,
      ports: newPorts(),
      waits,
      endsAt: scheduler.now() + random.between(...lifeMs),
      line: DIRECT,
    };
    return process;
  }
}
