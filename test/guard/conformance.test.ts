/**
 * Compares guard.sh with each row of its table (lab/world/task/guard-table.ts). The test brings the
 * guard into the phase and gives the input. The guard must show exactly these effects, and then end
 * as only the new phase ends. Looks wait at a gate, so that each look is one input. Three things
 * cannot be seen from outside. The order of a call and a signal. That a renewal is due while the
 * guard drains or its daemon has gone: `renewal-due` is `lease-seen` there. That a guard has been
 * blind for 6 h, unless it is working: `blind-for-6h` is `blind` elsewhere.
 */
import { describe, expect } from 'vitest';
import {
  GUARD_TABLE,
  type GuardEffect,
  type GuardInput,
  type GuardPhase,
  type GuardTransition,
} from '../../lab/world/task/guard-table.ts';
import { rows } from '../support/runs.ts';
import { type AgentEndpoint, BLOCKED, DENIED, HOUR_MS, type Misbehaviour, OTHERS } from './agent-endpoint.ts';
import {
  GUARD_SHELLS,
  type GuardOptions,
  guardTest,
  KEEPER_THAT_ENDS,
  type RunningGuard,
  type Shell,
  type StartGuard,
  TIME_THAT_STANDS,
} from './running-guard.ts';

type Row = GuardTransition & { readonly phase: GuardPhase; readonly input: GuardInput };

type Scenario = {
  /** Gives the input. The look that waits at the gate passes after it. */
  readonly give: (guard: RunningGuard) => void | Promise<void>;
  readonly renewMs?: number;
  /** Effects that belong to the input itself: the renewal that is answered. */
  readonly itself?: readonly GuardEffect[];
};

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAEMON_CODE = 70;
const RESET: Misbehaviour = { kind: 'reset' };

const ROWS = Object.entries(GUARD_TABLE).flatMap(([phase, transitions]) =>
  Object.entries(transitions).map(([input, transition]) => ({ phase, input, ...transition }) as Row),
);
/** Rows that `npm run check` tries; `.ci/run` tries all of them. */
const QUICK_ROWS = 15;

describe.concurrent.each(GUARD_SHELLS)('the guard as a table, under $name', ({ isMissing, ...shell }) => {
  const test = guardTest.skipIf(isMissing);

  test.for(rows(ROWS, QUICK_ROWS))('$phase, $input -> $to $effects', (row, { start }) =>
    isAsInTable(start, shell, row, SCENARIOS[row.input]),
  );

  // an answer about another task counts as none
  const ofOthers = ROWS.flatMap((row) => {
    const scenario = OTHERS_AS[row.input];
    return scenario === undefined ? [] : OTHERS.map((other) => ({ ...row, ...other, scenario }));
  });
  test.for(rows(ofOthers, 3))(
    '$phase, $input ($is) -> $to $effects',
    ({ fault, scenario, ...row }, { start }) => isAsInTable(start, shell, row, scenario(fault)),
  );
});

async function isAsInTable(
  start: StartGuard,
  shell: Shell,
  row: Row,
  { give, renewMs, itself = [] }: Scenario,
): Promise<void> {
  const day = 24 * HOUR_MS;
  const intervalsMs = {
    LEFT: day,
    DIED: day,
    CALL: 60_000,
    ...(renewMs === undefined ? {} : { RENEW: renewMs }),
  };
  const guard = await ENTRANCES[row.phase](start, {
    shell,
    intervalsMs,
    prelude: TIME_THAT_STANDS + KEEPER_THAT_ENDS,
  });

  const from = guard.trace.events.length;
  await give(guard);
  guard.agent.gate.letThrough();
  await settle(guard, row, from);
  expect(effects(guard, row.phase, from).toSorted()).toEqual([...itself, ...row.effects].toSorted());

  await PROOFS[row.to](guard);
  const terminations = effects(guard, row.phase, from).filter((effect) => effect === 'terminate-daemon');
  expect(terminations).toEqual(row.effects.filter((effect) => effect === 'terminate-daemon'));
}

/** Waits until the guard has reacted to the input: it has ended, or looks again. */
async function settle({ trace, agent }: RunningGuard, row: Row, from: number): Promise<void> {
  if (row.effects.includes('terminate-daemon')) await trace.until('daemon: SIGTERM', { from });
  if (row.effects.includes('start-daemon')) await trace.until('daemon: started', { from });
  if (row.input === 'keeper-ended') return void (await trace.until('daemon: keeper ends', { from }));
  if (row.to !== 'ended') return agent.gate.arrival();
  agent.gate.open(); // the keeper ends only after its look
  await trace.until('all gone');
}

function effects({ trace }: RunningGuard, phase: GuardPhase, from: number): GuardEffect[] {
  const shown: Readonly<Record<string, GuardEffect>> = {
    'agent: protect 2880': phase === 'leasing' ? 'take-lease' : 'renew',
    'agent: protect 1380': 'hold',
    'agent: release': 'release',
    'daemon: SIGTERM': 'terminate-daemon',
    'exit 0': 'exit-0',
    'exit 75': 'exit-75',
    'exit 77': 'exit-77',
    'exit 79': 'exit-79',
    [`exit ${DAEMON_CODE}`]: 'exit-code',
  };
  return trace.events.slice(from).flatMap((event) => {
    const effect = event.startsWith('daemon: started') ? 'start-daemon' : shown[event];
    return effect === undefined ? [] : [effect];
  });
}

/** Starts a guard and brings it into a phase, with a look waiting at the gate. */
type Entrance = (start: StartGuard, options: GuardOptions) => Promise<RunningGuard>;

const ENTRANCES: Readonly<Record<GuardPhase, Entrance>> = {
  leasing: async (start, options) => {
    const guard = await start({ ...options, prepare });
    await guard.agent.gate.arrival();
    return guard;
  },
  working: async (start, options) => {
    const guard = await ENTRANCES.leasing(start, options);
    guard.giveJob();
    guard.agent.gate.letThrough();
    await guard.trace.until('guard: working');
    await guard.trace.until('daemon: started');
    await guard.agent.gate.arrival();
    return guard;
  },
  draining: async (start, options) => {
    const guard = await ENTRANCES.working(start, options);
    guard.agent.leaves(23 * HOUR_MS);
    guard.agent.gate.letThrough();
    await guard.trace.until('guard: draining');
    await guard.trace.until('daemon: SIGTERM');
    await guard.agent.gate.arrival();
    return guard;
  },
  // through draining, so that a guard that stays in that phase fails the test
  stopping: async (start, options) => {
    const guard = await ENTRANCES.draining(start, options);
    guard.signal('SIGTERM');
    guard.agent.gate.open(); // the keeper heeds signals only between its calls
    await guard.trace.until('guard: stopping');
    guard.agent.gate.close();
    await guard.agent.gate.arrival();
    return guard;
  },
  left: async (start, options) => released(await ENTRANCES.draining(start, options)),
  died: async (start, options) => released(await ENTRANCES.working(start, options)),
  ended: () => Promise.reject(new Error('nothing runs any more')),
};

function prepare(agent: AgentEndpoint): void {
  agent.gate.close();
}

async function released(guard: RunningGuard): Promise<RunningGuard> {
  await endDaemon(guard);
  await guard.agent.gate.arrival();
  return guard;
}

/**
 * Ends the daemon, and waits for the guard's release or end. The gate is open, because the keeper
 * ends only after its look.
 */
async function endDaemon(guard: RunningGuard): Promise<void> {
  const { trace, agent } = guard;
  agent.gate.open();
  guard.crashDaemon(DAEMON_CODE);
  await Promise.race([trace.until('agent: release'), trace.until('exit')]);
  agent.gate.close();
}

function shows(leftMs: number): Pick<Scenario, 'give'> {
  return { give: ({ agent }) => agent.leaves(leftMs) };
}

function renewalThat(fault?: Misbehaviour, times = 1): Scenario {
  return {
    renewMs: 0,
    itself: ['renew'],
    give: async ({ agent }) => {
      agent.leaves(47 * HOUR_MS);
      for (let left = times; left > 1; left--) {
        if (fault) agent.misbehaves('protect', fault, 1);
        agent.gate.letThrough();
        await agent.gate.arrival();
      }
      if (fault) agent.misbehaves('protect', fault, 1);
    },
  };
}

const SCENARIOS: Readonly<Record<GuardInput, Scenario>> = {
  'lease-read': shows(48 * HOUR_MS),
  'no-lease-read': shows(0),
  'lease-time-over': {
    give: (guard) => {
      guard.passTime(10 * MINUTE_S);
      guard.agent.leaves(0);
    },
  },
  'role-refused': {
    itself: ['take-lease', 'take-lease'],
    give: async (guard) => {
      const { agent } = guard;
      agent.leaves(0);
      agent.misbehaves('protect', DENIED);
      for (let rounds = 0; rounds < 2; rounds++) {
        agent.gate.letThrough();
        await agent.gate.arrival();
      }
      guard.passTime(MINUTE_S);
    },
  },
  'lease-seen': shows(47 * HOUR_MS),
  'renewal-due': { ...shows(47 * HOUR_MS), renewMs: 0 },
  'ask-seen': shows(23 * HOUR_MS),
  'ask-seen-low': shows(11 * HOUR_MS),
  'gone-seen': shows(0),
  blind: { give: ({ agent }) => agent.misbehaves('look', RESET, 1) },
  'blind-for-6h': {
    give: (guard) => {
      guard.passTime(6 * HOUR_S);
      guard.agent.misbehaves('look', RESET, 1);
    },
  },
  renewed: renewalThat(),
  'renewal-refused': renewalThat(BLOCKED),
  'renewal-refused-again': { ...renewalThat(BLOCKED, 2), itself: ['renew', 'renew'] },
  'renewal-unanswered': renewalThat(RESET),
  'daemon-exited': { give: endDaemon },
  'keeper-ended': { give: (guard) => guard.breakKeeper() },
  stop: { give: (guard) => guard.signal('SIGTERM') },
  'wait-over': { give: (guard) => guard.passTime(72 * HOUR_S) },
};

/** The inputs that an answer about another task is. */
const OTHERS_AS: Readonly<Partial<Record<GuardInput, (fault: Misbehaviour) => Scenario>>> = {
  'no-lease-read': (fault) => ({ give: ({ agent }) => agent.misbehaves('look', fault, 1) }),
  blind: (fault) => ({ give: ({ agent }) => agent.misbehaves('look', fault, 1) }),
  'renewal-unanswered': (fault) => renewalThat(fault),
};

/** Lets the guard go on, and waits for what only a guard in this phase does. */
const PROOFS: Readonly<Record<GuardPhase, (guard: RunningGuard) => Promise<unknown>>> = {
  leasing: ({ agent, trace }) => {
    agent.gate.open();
    return trace.until('guard: working');
  },
  working: (guard) => crashed(guard, 'guard: died'),
  draining: (guard) => crashed(guard, 'guard: left'),
  stopping: (guard) => crashed(guard, 'guard: ended daemon-exited'),
  left: (guard) => waited(guard, 'exit 0'),
  died: (guard) => waited(guard, `exit ${DAEMON_CODE}`),
  ended: ({ trace }) => trace.until('guard: ended'),
};

function crashed(guard: RunningGuard, event: string): Promise<number> {
  guard.crashDaemon(DAEMON_CODE);
  guard.agent.gate.open();
  return guard.trace.until(event);
}

function waited(guard: RunningGuard, event: string): Promise<number> {
  guard.passTime(144 * HOUR_S);
  guard.agent.gate.open();
  return guard.trace.until(event);
}
