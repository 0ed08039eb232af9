/** Whether a pool needs a person: which pools the page shows first, and which it folds. */
import type { Finding, PoolPlan, Reason } from '../../lambda/decision/model/plan.ts';

/** `held`: a limit or a person holds it. `quiet`: nothing moves, and no job waits for it. */
export type PoolState = 'wrong' | 'held' | 'active' | 'quiet';

/** The first that applies. */
const STATES: readonly PoolState[] = ['wrong', 'held', 'active', 'quiet'];

type Seen = {
  readonly plan: PoolPlan;
  readonly findings: readonly Finding[];
  /** Whether a task is not just free. */
  readonly isMoving: boolean;
};

export function poolStateOf({ plan, findings, isMoving }: Seen): PoolState {
  const { name, why, desired, daemons, pending, overrides } = plan;
  const isNamed = findings.some((finding) => 'pool' in finding && finding.pool === name);
  const states = new Set<PoolState>([
    ...why.map((reason) => stateOf(reason, daemons)),
    ...(isNamed ? (['wrong'] as const) : []),
    ...(overrides.length > 0 ? (['held'] as const) : []),
    ...(isMoving || desired.from !== desired.to || pending > 0 ? (['active'] as const) : []),
  ]);
  return STATES.find((state) => states.has(state)) ?? 'quiet';
}

/** The reasons of what is wrong, and the others: limits first. */
export function inOrderOfNeed(why: readonly Reason[], daemons: PoolPlan['daemons']) {
  const by = Map.groupBy(why, (reason) => stateOf(reason, daemons));
  const of = (state: PoolState): readonly Reason[] => by.get(state) ?? [];
  return { wrong: of('wrong'), others: [...of('held'), ...of('active'), ...of('quiet')] };
}

/** Tasks that have just left hold scale-in for a moment, and nothing is wrong. */
function stateOf({ code }: Reason, { unguarded }: PoolPlan['daemons']): PoolState {
  return code === 'holding-for-unguarded' && unguarded === 0 ? 'active' : OF_REASON[code];
}

const OF_REASON: Readonly<Record<Reason['code'], PoolState>> = {
  'pending-jobs': 'active',
  'served-by-free': 'active',
  'served-by-starting': 'active',
  'served-by-busy': 'active',
  'left-to-peers': 'active',
  floor: 'quiet',
  stock: 'quiet',
  'holding-for-record': 'quiet',
  'making-room': 'active',
  'awake-for': 'active',
  'holding-for-forecast': 'quiet',
  'not-woken-for': 'held',
  prewarm: 'active',
  'capped-at-prewarm-max': 'held',
  'launching-for-jobs-only': 'wrong',
  'launching-to-be-seen': 'wrong',
  'launching-beside-unseen': 'wrong',
  pinned: 'held',
  'above-pin': 'held',
  paused: 'held',
  'scale-in-paused': 'held',
  'retiring-waits': 'active',
  retired: 'quiet',
  'capped-at-max': 'held',
  'on-demand-instead': 'active',
  'capped-at-max-tasks': 'held',
  'capped-at-dollars-per-hour': 'held',
  'capped-at-prebuilds-max-tasks': 'held',
  'left-to-next-look': 'active',
  'idle-long-enough': 'active',
  'idle-too-briefly': 'quiet',
  retiring: 'active',
  'no-daemon': 'wrong',
  'wrong-key': 'wrong',
  'old-revision': 'active',
  'old-secret': 'active',
  protecting: 'active',
  'tasks-left': 'active',
  'includes-leaving': 'active',
  'count-below-tasks': 'active',
  'holding-for-starting': 'active',
  'holding-for-unguarded': 'wrong',
  'holding-for-deployment': 'active',
  'holding-for-doubt': 'wrong',
  'starts-failing': 'wrong',
  'role-untried': 'active',
  'starts-unread': 'wrong',
  'counts-unread-pools': 'wrong',
  'placement-failing': 'wrong',
  'starts-throttled': 'wrong',
  'waiting-for-vacant': 'wrong',
  'license-missing': 'wrong',
  'server-too-old': 'wrong',
  'no-service': 'wrong',
  'nothing-to-do': 'quiet',
};
