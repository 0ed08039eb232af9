/**
 * The guard as a transition table (docs/internals/architecture.md, "The lease"). It is used three
 * times: the world's guard runs it (guard.ts), the exploration steps it (lab/proof/model-check), and
 * guard.sh is tested against it row by row.
 *
 *   leasing   takes the lease; starts the daemon only after it has read the lease back
 *   working   looks and renews; drains after a drain request, or when it cannot trust its lease
 *   draining  has sent SIGTERM to the daemon, which finishes its job however long that takes
 *   left      the daemon has exited and the protection is released; waits until ECS stops the task
 *   died      the daemon died unasked; releases, waits a minute (three if it died within a minute),
 *             exits with its code (76 for 0), or with 77 if ECS stops the task before
 *   stopping  the container got SIGTERM and passed it on; waits for the daemon and keeps the lease
 *   ended     nothing runs any more
 */

export type GuardPhase = 'leasing' | 'working' | 'draining' | 'left' | 'died' | 'stopping' | 'ended';

/** An answer is usable if it has at most 8 KiB, and is about this task as far as it tells. */
export type GuardInput =
  /** The lease was read back: enabled with 24 h or more left, and the task's desired status is RUNNING. */
  | 'lease-read'
  | 'no-lease-read'
  | 'lease-time-over'
  /** For a minute each write of the lease was answered with AccessDenied. */
  | 'role-refused'
  /** A look: enabled with 24 h or more left. */
  | 'lease-seen'
  /** A look: enabled with 24 h or more left, and a renewal is due. */
  | 'renewal-due'
  /** A look: less than 24 h left. */
  | 'ask-seen'
  /** A look: less than 12 h left. */
  | 'ask-seen-low'
  /** A look: not enabled. */
  | 'gone-seen'
  /** A look without a usable answer; the second input: no usable answer for 6 h. */
  | 'blind'
  | 'blind-for-6h'
  | 'renewed'
  /** A renewal was refused with DEPLOYMENT_BLOCKED; the second input: again, in a row. */
  | 'renewal-refused'
  | 'renewal-refused-again'
  /** No usable answer. */
  | 'renewal-unanswered'
  | 'daemon-exited'
  /** The process that looks and renews has ended (killed, out of memory). There is no look after that. */
  | 'keeper-ended'
  /** SIGTERM, or another request to end the container's first process. */
  | 'stop'
  | 'wait-over';

export type GuardEffect =
  /** Read which task this is, PUT 48 h, then read the lease back. */
  | 'take-lease'
  | 'start-daemon'
  | 'renew'
  /** PUT 23 h: every look then sees the task as leaving. */
  | 'hold'
  | 'terminate-daemon'
  /** PUT disabled. */
  | 'release'
  | 'exit-0'
  | 'exit-75'
  | 'exit-77'
  | 'exit-79'
  | 'exit-code';

export type GuardTransition = { readonly to: GuardPhase; readonly effects: readonly GuardEffect[] };

/** For each phase and input: the next phase and the effects. */
export type GuardTable = Readonly<Record<GuardPhase, Readonly<Partial<Record<GuardInput, GuardTransition>>>>>;

export const GUARD_TABLE: GuardTable = {
  leasing: {
    'lease-read': go('working', 'start-daemon'),
    'no-lease-read': go('leasing', 'take-lease'),
    'lease-time-over': go('ended', 'exit-75'),
    'role-refused': go('ended', 'exit-79'),
    stop: go('ended', 'exit-0'),
  },
  working: {
    'lease-seen': go('working'),
    'renewal-due': go('working', 'renew'),
    'ask-seen': go('draining', 'terminate-daemon'),
    'ask-seen-low': go('draining', 'terminate-daemon', 'hold'),
    'gone-seen': go('draining', 'hold', 'terminate-daemon'),
    blind: go('working'),
    'blind-for-6h': go('draining', 'terminate-daemon'),
    renewed: go('working'),
    'renewal-refused': go('working'),
    'renewal-refused-again': go('draining', 'terminate-daemon'),
    'renewal-unanswered': go('working'),
    'daemon-exited': go('died', 'release'),
    'keeper-ended': go('draining', 'terminate-daemon'),
    stop: go('stopping', 'terminate-daemon'),
  },
  draining: {
    // A guard that drains by itself must be seen as leaving.
    'lease-seen': go('draining', 'hold'),
    'renewal-due': go('draining', 'hold'),
    'ask-seen': go('draining'),
    // The protection must not expire while the job runs.
    'ask-seen-low': go('draining', 'hold'),
    'gone-seen': go('draining', 'hold'),
    blind: go('draining'),
    'blind-for-6h': go('draining'),
    'daemon-exited': go('left', 'release'),
    'keeper-ended': go('draining'),
    stop: go('stopping'),
  },
  stopping: {
    // The SIGTERM is not from ECS: the job goes on, and so does its lease.
    'lease-seen': go('stopping'),
    'renewal-due': go('stopping', 'renew'),
    'ask-seen': go('stopping'),
    'ask-seen-low': go('stopping', 'hold'),
    'gone-seen': go('stopping', 'hold'),
    blind: go('stopping'),
    'blind-for-6h': go('stopping'),
    renewed: go('stopping'),
    'renewal-refused': go('stopping'),
    'renewal-refused-again': go('stopping'),
    'renewal-unanswered': go('stopping'),
    'daemon-exited': go('ended', 'exit-code'),
    'keeper-ended': go('stopping'),
    stop: go('stopping'),
  },
  left: { ...releasedRows('left'), 'wait-over': go('ended', 'exit-0'), stop: go('ended', 'exit-0') },
  died: { ...releasedRows('died'), 'wait-over': go('ended', 'exit-code'), stop: go('ended', 'exit-77') },
  ended: {},
};

/** Steps the guard. An input without a row changes nothing. */
export function stepGuard(
  phase: GuardPhase,
  input: GuardInput,
  table: GuardTable = GUARD_TABLE,
): GuardTransition {
  return table[phase][input] ?? { to: phase, effects: [] };
}

function go(to: GuardPhase, ...effects: readonly GuardEffect[]): GuardTransition {
  return { to, effects };
}

/** After the daemon has exited: any protection is released again, until a look shows that it is gone. */
function releasedRows(phase: 'left' | 'died') {
  const again = go(phase, 'release');
  return {
    'gone-seen': go(phase),
    'lease-seen': again,
    'renewal-due': again,
    'ask-seen': again,
    'ask-seen-low': again,
    blind: again,
    'blind-for-6h': again,
  };
}
