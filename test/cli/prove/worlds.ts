/** Worlds for `autoscaler prove`: wrong ones, with the rows that must not be ok in them, and right ones. */
import type { RowId } from '../../../cli/prove/bench/rows.ts';
import type { WrongEcs } from '../../../lab/world/ecs/protection.ts';
import type { EcsTask } from '../../../lab/world/ecs/task.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import type { LabOptions } from '../../support/lab.ts';
import { CPU, PROVING, type ProveLab } from './prove-lab.ts';

type World = {
  readonly make?: (lab: ProveLab) => void;
  /** Called before each wait. */
  readonly onWait?: (lab: ProveLab) => void;
  readonly options?: Partial<LabOptions>;
};

export type WrongWorld = World & {
  readonly because: string;
  /** The rows that must not be ok, and what they say instead. */
  readonly rows: Readonly<Partial<Record<RowId, 'not' | 'not measured'>>>;
  /** Parts of what these rows measured. */
  readonly says?: Readonly<Partial<Record<RowId, string>>>;
  /** Rows that may be ok, because they say that they do not cover this. */
  readonly uncovered?: readonly RowId[];
};

export type RightWorld = World & {
  readonly because: string;
  /** The rows that cannot be measured in it. @default none */
  readonly unmeasured?: readonly RowId[];
};

const ecsIs =
  (wrong: WrongEcs) =>
  ({ world: { ecs } }: ProveLab): void => {
    ecs.wrong = wrong;
  };

const running = ({ world: { ecs } }: ProveLab): readonly EcsTask[] =>
  ecs.tasks().filter((task) => task.isWanted && task.state.lastStatus === 'RUNNING');

const busyIn = (lab: ProveLab): EcsTask | undefined => running(lab).find(({ isBusy }) => isBusy);

/** Beside a busy one. */
const idleIn = (lab: ProveLab): EcsTask | undefined =>
  busyIn(lab) && running(lab).find(({ isBusy }) => !isBusy);

const isAsked = ({ protections: { latest } }: EcsTask, now: number): boolean =>
  latest.enabled && (latest.expiresAt ?? 0) < now + DAY_MS;

/** What happens to a task once it has its drain request. */
const onceAsked =
  (find: typeof idleIn, happens: (lab: ProveLab, task: string) => void) =>
  (lab: ProveLab): void => {
    const task = find(lab);
    if (task && isAsked(task, lab.world.timeline.now())) happens(lab, task.identity.id);
  };

const spot = ({ world: { ecs } }: ProveLab, task: string): void => ecs.spotInterruption(task);
const host = ({ world: { ecs } }: ProveLab, task: string): void => ecs.hostFailure(task);

const onceBuilding =
  (happens: (lab: ProveLab, idle: string) => void) =>
  (lab: ProveLab): void => {
    const idle = idleIn(lab);
    if (idle) happens(lab, idle.identity.id);
  };

/** The guard of the idle task does not get its signal; another task logs one. */
function logOfAnother(lab: ProveLab): void {
  const line = { level: 'info', message: 'guard', state: 'ended', why: 'signal' };
  const { logGroup } = lab.world.service('proving').state.primary.definition.template;
  lab.world.logs.put(logGroup, JSON.stringify({ ...line, daemon: `proving-${'0'.repeat(32)}` }));
}

const BOUND = {
  pools: [
    { ...PROVING, template: { taskRoleArn: 'arn:aws:iam::123456789012:role/PoolProvingBoundTaskRole1A2B' } },
    CPU,
  ],
};

/** What AWS answers to a task with the bound role, and Terraform shows, if the task has another pool's tag. */
const iamAnswers =
  (verdict: 'denied' | 'allowed' | 'both' | 'unknown') =>
  ({ world: { coderd, ecs } }: ProveLab): void => {
    coderd.importPrints = (file) => {
      const [, task = ''] = /"tasks":\["[^"]*\/([0-9a-f]{32})"\],"protectionEnabled":true/.exec(file) ?? [];
      const hasOther = ecs.taskTags.get(`${task} coder-autoscaler:pool`) === 'proving-other';
      return [`Error Message: autoscaler-prove:${hasOther ? verdict : 'allowed'}`];
    };
  };

export const WRONG: readonly WrongWorld[] = [
  {
    because: 'ECS sets stoppingAt at once, and signal and metadata come 25 s later',
    make: ecsIs('stopping-at'),
    options: { latencies: { signal: [25_000, 25_000] } },
    rows: { 'choice-to-signal': 'not' },
    says: { 'choice-to-signal': '25 s' },
  },
  {
    because: 'the signal comes 8 s after the choice',
    options: { latencies: { signal: [8_000, 8_000] } },
    rows: { 'choice-to-signal': 'not' },
  },
  {
    because: 'the signal comes 25 s after the choice, which reads show after 24 s',
    options: { latencies: { signal: [25_000, 25_000] }, readLagMs: 24_000 },
    rows: { 'choice-to-signal': 'not' },
  },
  {
    because: 'the signal never comes',
    options: { latencies: { signal: [3_600_000, 3_600_000] } },
    rows: { 'choice-to-signal': 'not measured' },
  },
  {
    because: "the guard's line of the signal is that of another task",
    onWait: logOfAnother,
    options: { latencies: { signal: [3_600_000, 3_600_000] } },
    rows: { 'choice-to-signal': 'not measured' },
  },
  {
    because: 'an earlier end removes the protection',
    make: ecsIs('end-removed'),
    rows: { 'end-may-be-earlier': 'not' },
    says: { 'end-may-be-earlier': 'no protection' },
  },
  {
    because: 'an earlier end becomes one of 2 h',
    make: ecsIs('end-2h'),
    rows: { 'end-may-be-earlier': 'not' },
    says: { 'end-may-be-earlier': '2.0 h left' },
  },
  {
    because: 'an earlier end becomes one of 1 min',
    make: ecsIs('end-1min'),
    rows: { 'end-may-be-earlier': 'not' },
    says: { 'end-may-be-earlier': '0.0 h left' },
  },
  {
    because: 'an earlier end becomes one of 2 h, and the answer says 23 h',
    make: ecsIs('end-answer'),
    rows: { 'end-may-be-earlier': 'not' },
    says: { 'end-may-be-earlier': '2.0 h left' },
  },
  {
    because: 'ECS keeps the later end of a protection',
    make: ecsIs('end'),
    rows: { 'end-may-be-earlier': 'not' },
    says: { 'end-may-be-earlier': '48.0 h left' },
  },
  {
    because: 'the forced deployment never starts',
    make: ecsIs('deployment'),
    rows: { 'renewal-while-blocked': 'not measured', 'build-outlives-request': 'not measured' },
  },
  {
    because: 'two deployments are never listed',
    make: ecsIs('deployment-reads'),
    rows: { 'renewal-while-blocked': 'not measured', 'build-outlives-request': 'not measured' },
  },
  {
    because: 'no guard sees the request, and the idle task loses its host',
    make: ecsIs('request'),
    onWait: onceAsked(idleIn, host),
    rows: { 'drain-request-arrives': 'not measured', 'choice-to-signal': 'not measured' },
    says: { 'drain-request-arrives': 'InfrastructureHealth' },
  },
  {
    because: 'no guard sees the request, and Spot takes the idle task',
    make: ecsIs('request'),
    onWait: onceAsked(idleIn, spot),
    rows: { 'drain-request-arrives': 'not measured', 'choice-to-signal': 'not measured' },
    says: { 'drain-request-arrives': 'SpotInterruption' },
  },
  {
    because: 'no guard sees the request, and ECS knows the idle task no more',
    make: ecsIs('request'),
    onWait: onceAsked(idleIn, ({ world: { ecs } }, task) => void ecs.forgotten.add(task)),
    rows: { 'drain-request-arrives': 'not measured', 'choice-to-signal': 'not measured' },
    says: { 'drain-request-arrives': 'MISSING' },
  },
  {
    because: 'no guard sees the drain request',
    make: ecsIs('request'),
    rows: { 'drain-request-arrives': 'not', 'choice-to-signal': 'not measured' },
    says: { 'drain-request-arrives': 'not within 2 min' },
  },
  {
    because: 'the agent refuses renewals of 48 h, and the API grants calls from outside',
    make: ecsIs('lease-renewal'),
    rows: {},
    uncovered: ['lease', 'renewal-while-blocked'],
  },
  {
    because: 'protection is ignored once a deployment is 5 min old',
    make: ecsIs('protection-deployment'),
    rows: { 'build-outlives-request': 'not' },
  },
  {
    because: 'GetTaskProtection answers with failures',
    onWait: onceBuilding(ecsIs('protection-reads')),
    rows: { 'end-may-be-earlier': 'not measured', 'drain-request-arrives': 'not measured' },
  },
  {
    because: 'GetTaskProtection answers with failures from the start',
    make: ecsIs('protection-reads'),
    rows: { lease: 'not measured' },
  },
  {
    because: 'protection reads lack protectionEnabled',
    onWait: onceBuilding(({ world: { ecs } }) => {
      for (const { identity } of ecs.tasks()) ecs.unreadable.add(identity.id);
    }),
    rows: { 'end-may-be-earlier': 'not measured', 'drain-request-arrives': 'not measured' },
  },
  {
    because: 'ECS ignores protection, and acts after 10 min',
    make: ecsIs('protection-10min'),
    rows: { 'protected-tasks-stay': 'not measured' },
  },
  {
    because: 'the service tells no events',
    make: ({ world: { ecs } }) => {
      ecs.tellsScaleIn = false;
    },
    rows: { 'protected-tasks-stay': 'not measured' },
  },
  {
    because: 'ECS ignores protection when the count falls',
    make: ecsIs('protection'),
    rows: { 'protected-tasks-stay': 'not' },
    says: { 'protected-tasks-stay': 'ECS stopped 2 of 2 protected tasks' },
  },
  {
    because: 'no guard gets a protection',
    make: ecsIs('lease'),
    rows: { lease: 'not' },
    says: { lease: 'no protection and no protection' },
  },
  {
    because: 'ECS refuses renewals with a reason that no guard knows',
    make: ecsIs('renewal'),
    rows: { 'renewal-while-blocked': 'not' },
    says: { 'renewal-while-blocked': '× TASK_NOT_VALID' },
  },
  {
    because: 'ECS does not know a task whose protection is renewed',
    make: ecsIs('renewal-missing'),
    rows: { 'renewal-while-blocked': 'not measured' },
    says: { 'renewal-while-blocked': '× MISSING' },
  },
  {
    because: 'the drain request ends the build',
    onWait: onceAsked(busyIn, ({ world: { coderd } }) => {
      const [job] = coderd.openJobs();
      if (job?.canceledAt === undefined && job?.startedAt) coderd.cancelJob(job.id);
    }),
    rows: { 'build-outlives-request': 'not' },
    says: { 'build-outlives-request': 'canceled' },
  },
  {
    because: 'a start takes four minutes',
    options: { latencies: { boot: [240_000, 240_000] } },
    rows: { start: 'not', 'image-pull': 'not' },
    says: { start: '(72 s network, 144 s image', 'image-pull': '144 s and 144 s' },
  },
  {
    because: 'ECS does not tell when it pulled the image',
    make: ({ world: { ecs } }) => {
      ecs.tellsPulls = false;
    },
    rows: { 'image-pull': 'not measured' },
  },
  {
    because: 'the function waits between its looks',
    make: (lab) => {
      lab.hasMessages = false;
    },
    rows: { messages: 'not' },
    says: { messages: 'invocations a minute' },
  },
  {
    because: 'its role may stop tasks and may not set a count',
    make: ({ world: { account } }) => {
      account.functionMay.add('ecs:StopTask');
      account.functionMay.delete('ecs:UpdateService');
    },
    rows: { 'role-can': 'not', 'role-cannot-stop': 'not' },
    says: { 'role-can': 'it cannot: UpdateService', 'role-cannot-stop': 'it can: StopTask' },
  },
  {
    because: "IAM's simulation answers with no row",
    make: ({ world: { account } }) => {
      account.simulates = false;
    },
    rows: { 'role-can': 'not measured', 'role-cannot-stop': 'not measured' },
  },
  {
    because: 'IAM does not heed the tags of tasks',
    options: BOUND,
    make: iamAnswers('allowed'),
    rows: { 'bound-role': 'not' },
  },
  {
    because: 'the build cannot ask AWS',
    options: BOUND,
    make: iamAnswers('unknown'),
    rows: { 'bound-role': 'not measured' },
  },
  {
    because: 'a policy of the organization denies each call from a task but those of its agent',
    options: BOUND,
    make: iamAnswers('both'),
    rows: { 'bound-role': 'not measured' },
    says: { 'bound-role': 'for their own too' },
  },
  {
    because: 'AWS refuses the condition, so no task can protect itself',
    options: BOUND,
    make: ecsIs('bound-role'),
    rows: { lease: 'not measured', 'bound-role': 'not' },
    says: { 'bound-role': 'the protection of the task itself' },
  },
  {
    because: 'the bound role refuses the lease too',
    options: BOUND,
    make: ecsIs('lease'),
    rows: { lease: 'not', 'bound-role': 'not measured' },
  },
];

const OF_IDLE = ['drain-request-arrives', 'choice-to-signal'] as const;
const OF_BUSY = ['renewal-while-blocked', 'build-outlives-request'] as const;
const AFTER_HOLD = ['protected-tasks-stay', 'end-may-be-earlier', ...OF_IDLE, ...OF_BUSY] as const;
const deploying = (lab: ProveLab): boolean => lab.world.service('proving').state.older.length > 0;

export const RIGHT: readonly RightWorld[] = [
  { because: 'all is as assumed' },
  { because: "coderd's clock is 30 s ahead", options: { coderdAheadMs: 30_000 } },
  { because: "coderd's clock is 30 s behind", options: { coderdAheadMs: -30_000 } },
  { because: 'reads lag up to 3 s', options: { readLagMs: 3_000 } },
  { because: 'reads lag up to 30 s', options: { readLagMs: 30_000 } },
  { because: 'ECS never refuses a renewal', options: { deploymentBlocked: 'new-only' } },
  { because: 'only old revisions are refused', options: { blockedTasks: 'old-revision' } },
  { because: 'a start takes 100 s', options: { latencies: { boot: [95_000, 95_000] } } },
  {
    because: 'log lines come 20 s late',
    make: ({ world: { logs } }) => {
      logs.delayMs = 20_000;
    },
  },
  {
    because: 'Spot takes a task while both are held',
    onWait: (lab) => {
      const busy = busyIn(lab);
      if (busy && lab.world.service('proving').state.desiredCount === 0) spot(lab, busy.identity.id);
    },
    unmeasured: [...AFTER_HOLD, 'messages'],
  },
  {
    because: 'a host takes the idle task after its request',
    onWait: onceAsked(idleIn, host),
    unmeasured: OF_IDLE,
  },
  {
    because: 'Spot takes the idle task after its release',
    onWait: (lab) => {
      const idle = idleIn(lab);
      if (idle && !idle.isProtected && !deploying(lab)) spot(lab, idle.identity.id);
    },
    unmeasured: ['choice-to-signal'],
  },
  {
    because: 'a host takes the busy task during the deployment',
    onWait: (lab) => {
      const busy = busyIn(lab);
      if (busy && deploying(lab)) host(lab, busy.identity.id);
    },
    unmeasured: OF_BUSY,
  },
  {
    because: 'AWS retires the host of the busy task during the deployment',
    onWait: (lab) => {
      const busy = busyIn(lab);
      if (busy && deploying(lab)) lab.world.ecs.retireHost(busy.identity.id, 'ServiceSchedulerInitiated');
    },
    unmeasured: OF_BUSY,
  },
  {
    because: 'no person may look at roles',
    make: ({ world: { account } }) => {
      account.hidesRoles = true;
    },
    unmeasured: ['role-can', 'role-cannot-stop'],
  },
  { because: 'roles are bound to their pools', options: BOUND, make: iamAnswers('denied') },
  {
    because: 'IAM learns of a bound role after two minutes',
    options: BOUND,
    make: (lab) => {
      iamAnswers('denied')(lab);
      ecsIs('bound-role')(lab);
    },
    onWait: (lab) => {
      const { ecs } = lab.world;
      if (ecs.tasks().some(({ state }) => state.exitCode === 79)) ecs.wrong = undefined;
    },
  },
];
