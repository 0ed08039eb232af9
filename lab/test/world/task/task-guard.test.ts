/** The world's guard and daemon. Tests of guard.sh hold it to the same table (test/guard/conformance.test.ts). */
import { describe, expect, it } from 'vitest';
import type { DaemonId, EpochMs, JobId, TaskArn } from '../../../../lambda/decision/model/brands.ts';
import {
  type AcquiredJob,
  ConnectionRefused,
  type DaemonConnection,
  type DaemonServer,
} from '../../../world/base/daemon-connection.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import type { AgentAnswer, TaskAgent } from '../../../world/ecs/parts/container.ts';
import { Daemon } from '../../../world/task/daemon.ts';
import { Guard } from '../../../world/task/guard.ts';
import { GUARD_TABLE, type GuardInput, type GuardPhase, stepGuard } from '../../../world/task/guard-table.ts';
import { HOUR, MINUTE, SECOND, START } from '../ecs/ecs-fixture.ts';

const TASK_ID = '0123456789abcdef0123456789abcdef';

/** An agent endpoint that a test controls. It answers after 0.1 s and records every write. */
class ScriptedAgent implements TaskAgent {
  readonly writes: (number | 'release')[] = [];
  expiresAt = 0;
  refusal: string | undefined;
  /** The code of the error that each write is answered with. */
  error: string | undefined;
  down = false;
  /** Whether writes take effect but their answers are lost. */
  losesAnswers = false;
  desired: 'RUNNING' | 'STOPPED' = 'RUNNING';
  readonly #timeline: Timeline;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  protect(minutes: number, onAnswer: (answer: AgentAnswer) => void): void {
    this.writes.push(minutes);
    this.#answer(onAnswer, () => {
      if (this.error !== undefined) return { kind: 'error', code: this.error };
      if (this.refusal !== undefined) return { kind: 'failure', reason: this.refusal };
      this.expiresAt = this.#timeline.now() + minutes * MINUTE;
      return this.losesAnswers ? { kind: 'error', code: 'RequestCanceled' } : this.#protection();
    });
  }

  release(onAnswer: (answer: AgentAnswer) => void): void {
    this.writes.push('release');
    this.#answer(onAnswer, () => {
      this.expiresAt = 0;
      return this.#protection();
    });
  }

  look(onAnswer: (answer: AgentAnswer) => void): void {
    this.#answer(onAnswer, () => this.#protection());
  }

  desiredStatus(): 'RUNNING' | 'STOPPED' {
    return this.desired;
  }

  #answer(onAnswer: (answer: AgentAnswer) => void, act: () => AgentAnswer): void {
    this.#timeline.after(100, () => onAnswer(this.down ? { kind: 'error', code: 'RequestCanceled' } : act()));
  }

  #protection(): AgentAnswer {
    const enabled = this.expiresAt > this.#timeline.now();
    return { kind: 'protection', enabled, expiresAt: enabled ? (this.expiresAt as EpochMs) : undefined };
  }
}

/** A coderd for one daemon. */
class TinyServer implements DaemonServer {
  readonly names: string[] = [];
  readonly log: string[] = [];
  refuses: ConnectionRefused | undefined;
  waiting: ((job: AcquiredJob) => void) | undefined;

  connect({ name }: { readonly name: string }): DaemonConnection {
    this.names.push(name);
    if (this.refuses !== undefined) throw this.refuses;
    return {
      id: 'daemon' as DaemonId,
      acquire: (onJob) => {
        this.waiting = onJob;
      },
      cancelAcquire: () => {
        this.waiting = undefined;
      },
      onCancel: () => {},
      complete: (_, result) => this.log.push(result),
      close: () => this.log.push('closed'),
    };
  }

  /** Hands the daemon a job if it has asked for one. Returns whether it had. */
  give(durationMs: number): boolean {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.({ id: 'job' as JobId, durationMs, willFail: false });
    return waiting !== undefined;
  }
}

function world(prepare: (agent: ScriptedAgent, server: TinyServer) => void = () => {}) {
  const timeline = new Timeline(START);
  const random = new Random(11);
  const agent = new ScriptedAgent(timeline);
  const server = new TinyServer();
  prepare(agent, server);
  const exits: { code: number; at: number }[] = [];
  const killed: AcquiredJob[] = [];
  const guard = new Guard({
    timeline,
    random,
    pool: 'gpu',
    host: {
      taskArn: `arn:task/${TASK_ID}` as TaskArn,
      taskId: TASK_ID,
      privateIp: '10.0.0.9',
      agent,
      exit: (code) => exits.push({ code, at: timeline.now() - START }),
    },
    startDaemon: (name, onExit) =>
      new Daemon({
        timeline,
        random,
        server,
        connect: [2000, 4000],
        credential: { key: 'key' },
        name,
        version: 'v2.30.0',
        onExit,
        onKilledJob: (job) => killed.push(job),
      }),
    onEnd: () => {},
  });
  const pass = (ms: number) => timeline.advanceTo((timeline.now() + ms) as EpochMs);
  /** Sets the time left on the lease, as a drain request or passing time does. */
  const leave = (ms: number) => {
    agent.expiresAt = ms === 0 ? 0 : timeline.now() + ms;
  };
  return { agent, server, guard, exits, killed, pass, leave };
}

describe('a guard without a lease', () => {
  it('starts the daemon, named after pool and task, after it has read the lease back', () => {
    const { agent, server, guard, pass } = world();
    pass(3 * SECOND);
    expect(guard.phase).toBe('leasing');
    pass(250);
    expect(guard.phase).toBe('working');
    pass(4 * SECOND);
    expect(agent.writes).toEqual([2880]);
    expect(server.names).toEqual([`gpu-${TASK_ID}`]);
  });

  it('accepts a lease whose answer was lost', () => {
    const { guard, pass } = world((agent) => {
      agent.losesAnswers = true;
    });
    pass(4 * SECOND);
    expect(guard.phase).toBe('working');
  });

  it('takes the lease late if ECS refuses it at first, and exits after 10 min without one', () => {
    const refused = () =>
      world((agent) => {
        agent.refusal = 'DEPLOYMENT_BLOCKED';
      });
    const late = refused();
    late.pass(5 * MINUTE);
    late.agent.refusal = undefined;
    late.pass(20 * SECOND);
    expect(late.guard.phase).toBe('working');
    const { server, exits, pass } = refused();
    pass(10 * MINUTE - 1);
    expect(exits).toEqual([]);
    pass(SECOND);
    expect(exits).toMatchObject([{ code: 75 }]);
    expect(server.names).toEqual([]);
  });

  it('exits with a code of its own after a minute in which AWS refused its role, and not after one of other errors', () => {
    const denied = world((agent) => {
      agent.error = 'AccessDeniedException';
    });
    denied.pass(MINUTE);
    expect(denied.exits).toEqual([]);
    denied.pass(20 * SECOND);
    expect(denied.exits).toMatchObject([{ code: 79 }]);
    const throttled = world((agent) => {
      agent.error = 'ThrottlingException';
    });
    throttled.pass(5 * MINUTE);
    expect(throttled.exits).toEqual([]);
  });

  it.each([0, 2 * SECOND])(
    'never starts the daemon of a task that ECS has chosen %i ms after its start',
    (ms) => {
      const { agent, guard, server, exits, pass } = world();
      pass(ms);
      agent.desired = 'STOPPED';
      pass(MINUTE);
      expect([server.names, guard.phase]).toEqual([[], 'leasing']);
      guard.terminate();
      pass(SECOND);
      expect(exits).toMatchObject([{ code: 0 }]);
    },
  );
});

describe('a working guard', () => {
  /** With a job of 40 h. */
  function working() {
    const all = world();
    all.pass(MINUTE);
    expect(all.server.give(40 * HOUR)).toBe(true);
    return all;
  }

  it('renews every 10 to 20 min', () => {
    const { agent, pass } = working();
    pass(10 * HOUR);
    expect(new Set(agent.writes)).toEqual(new Set([2880]));
    expect(agent.writes.length).toBeGreaterThanOrEqual(29);
    expect(agent.writes.length).toBeLessThanOrEqual(61);
  });

  it.each([
    {
      left: 24 * HOUR + 45 * SECOND,
      phase: 'working',
      writes: [2880],
      because: '24 h or more are left at the look',
    },
    { left: 24 * HOUR - 1, phase: 'draining', writes: [2880], because: 'less than 24 h are a drain request' },
    {
      left: 12 * HOUR - 1,
      phase: 'draining',
      writes: [2880, 1380],
      because: 'with less than 12 h it sets 23 h',
    },
    { left: 0, phase: 'draining', writes: [2880, 1380], because: 'without a lease it sets 23 h' },
  ])('is $phase with $left ms left, and has written $writes: $because', ({ left, phase, writes }) => {
    const { agent, guard, pass, leave } = working();
    leave(left);
    pass(41 * SECOND);
    expect([guard.phase, agent.writes]).toEqual([phase, writes]);
  });

  it('takes no job once it drains', () => {
    const { server, pass, leave } = world();
    pass(MINUTE);
    leave(23 * HOUR);
    pass(41 * SECOND);
    expect(server.give(MINUTE)).toBe(false);
  });

  it('never renews over a drain request, sets 23 h again below 12 h, and leaves after its job', () => {
    const { agent, server, guard, exits, pass, leave } = working();
    leave(23 * HOUR);
    pass(10.9 * HOUR);
    expect([guard.phase, agent.writes]).toEqual(['draining', [2880]]);
    pass(28 * HOUR);
    expect(agent.writes).toEqual([2880, 1380, 1380, 1380]);
    expect(server.log).toEqual([]);
    pass(67 * MINUTE);
    expect([guard.phase, server.log, exits]).toEqual(['left', ['succeeded', 'closed'], []]);
    expect(agent.writes.at(-1)).toBe('release');
  });

  it('drains after 6 h without a look, not less, and then shows that it is leaving', () => {
    const { agent, server, guard, pass } = working();
    for (let i = 0; i < 2; i++) {
      agent.down = true;
      pass(5 * HOUR);
      agent.down = false;
      pass(MINUTE);
    }
    expect(guard.phase).toBe('working');
    agent.down = true;
    pass(6 * HOUR + MINUTE);
    expect(guard.phase).toBe('draining');
    agent.down = false;
    pass(MINUTE);
    expect(agent.writes.at(-1)).toBe(1380);
    expect(server.log).toEqual([]);
  });

  it('drains when its keeper ends, and changes its protection only once the daemon has exited', () => {
    const { agent, server, guard, pass } = working();
    guard.endKeeper();
    expect(guard.phase).toBe('draining');
    pass(39 * HOUR);
    expect(agent.writes).toEqual([2880]);
    pass(HOUR + MINUTE);
    expect(server.log).toEqual(['succeeded', 'closed']);
    expect(agent.writes).toEqual([2880, 'release']);
  });

  it.each([
    { refusals: ['DEPLOYMENT_BLOCKED', 'DEPLOYMENT_BLOCKED'], phase: 'draining' },
    { refusals: ['DEPLOYMENT_BLOCKED', undefined, 'DEPLOYMENT_BLOCKED'], phase: 'working' },
    { refusals: ['MISSING', 'MISSING', 'MISSING'], phase: 'working' },
  ] as const)('is $phase after renewals that were answered $refusals', ({ refusals, phase }) => {
    const { agent, guard, pass } = working();
    for (const refusal of refusals) {
      agent.refusal = refusal;
      const before = agent.writes.length;
      for (let i = 0; i < 22 * 60 && agent.writes.length === before; i++) pass(SECOND);
    }
    pass(SECOND);
    expect(guard.phase).toBe(phase);
  });

  it('passes SIGTERM on, waits for the job and keeps its lease as long', () => {
    const { agent, server, guard, exits, pass, leave } = working();
    guard.terminate();
    pass(4 * HOUR);
    expect(guard.phase).toBe('stopping');
    expect(agent.writes.length).toBeGreaterThanOrEqual(12);
    expect(new Set(agent.writes)).toEqual(new Set([2880]));
    leave(0);
    pass(41 * SECOND);
    expect(agent.writes.at(-1)).toBe(1380);
    agent.refusal = 'DEPLOYMENT_BLOCKED';
    pass(35 * HOUR);
    expect([guard.phase, exits]).toEqual(['stopping', []]);
    pass(2 * HOUR);
    expect(server.log).toEqual(['succeeded', 'closed']);
    expect(exits).toMatchObject([{ code: 0 }]);
  });

  it('leaves the job unfinished at SIGKILL', () => {
    const { server, guard, exits, killed, pass } = working();
    guard.kill();
    pass(41 * HOUR);
    expect([server.log, killed.length, exits]).toEqual([['closed'], 1, []]);
  });
});

describe('a guard whose daemon has exited', () => {
  function left() {
    const all = world();
    all.pass(MINUTE);
    all.leave(23 * HOUR);
    all.pass(MINUTE);
    expect(all.guard.phase).toBe('left');
    return all;
  }

  it('releases until the protection is gone, and again when it comes back', () => {
    const { agent, pass, leave } = left();
    expect(agent.writes).toEqual([2880, 'release']);
    agent.down = true;
    leave(23 * HOUR);
    pass(MINUTE);
    expect(agent.expiresAt).not.toBe(0);
    agent.down = false;
    pass(41 * SECOND);
    expect(agent.expiresAt).toBe(0);
  });

  it('exits 0 after 10 min, or at once when ECS stops the task', () => {
    const waiting = left();
    waiting.pass(9 * MINUTE);
    expect(waiting.exits).toEqual([]);
    waiting.pass(MINUTE);
    expect(waiting.exits).toMatchObject([{ code: 0 }]);
    const stopped = left();
    stopped.guard.terminate();
    stopped.pass(SECOND);
    expect(stopped.exits).toMatchObject([{ code: 0 }]);
  });

  it.each([
    { code: 70, ends: 70, livedS: 120, waitsS: 60 },
    { code: 0, ends: 76, livedS: 120, waitsS: 60 },
    { code: 1, ends: 1, livedS: 30, waitsS: 180 },
  ])(
    'releases, waits $waitsS s and exits with $ends after the daemon crashed with $code after $livedS s',
    ({ code, ends, livedS, waitsS }) => {
      const { agent, guard, exits, pass } = world();
      pass(livedS * SECOND);
      guard.daemon?.crash(code);
      pass(SECOND);
      expect(agent.writes).toEqual([2880, 'release']);
      expect(exits).toEqual([]);
      pass((waitsS - 2) * SECOND);
      expect(exits).toEqual([]);
      pass(1.5 * SECOND);
      expect(exits).toMatchObject([{ code: ends }]);
    },
  );
});

describe('a daemon that coderd refuses', () => {
  it.each([
    {
      status: 401,
      message: 'provisioner daemon key invalid',
      exit: [{ code: 1 }],
      dials: 1,
      because: 'the key is invalid, so it exits',
    },
    {
      status: 403,
      message: 'Enterprise feature',
      exit: [],
      dials: 1,
      because: 'there is no licence, so it stays and does nothing',
    },
    {
      status: 400,
      message: 'Incompatible version',
      exit: [],
      dials: 30,
      because: 'coderd does not accept its version, so it redials without end',
    },
  ] as const)(
    'dials $dials time(s) when coderd answers $status: $because',
    ({ status, message, exit, dials }) => {
      const { server, exits, pass } = world((_, it) => {
        it.refuses = new ConnectionRefused(status, message);
      });
      pass(5 * MINUTE);
      expect(server.names).toHaveLength(dials);
      expect(exits).toMatchObject(exit);
    },
  );

  it('still exits at SIGTERM', () => {
    const { guard, exits, pass } = world((_, it) => {
      it.refuses = new ConnectionRefused(403, 'Enterprise feature');
    });
    pass(MINUTE);
    guard.terminate();
    pass(SECOND);
    expect(exits).toMatchObject([{ code: 0 }]);
  });
});

describe('GUARD_TABLE', () => {
  const phases = Object.keys(GUARD_TABLE) as GuardPhase[];

  it('starts the daemon in one row only: after the lease was read back', () => {
    const places = phases.flatMap((phase) =>
      Object.entries(GUARD_TABLE[phase]).flatMap(([input, { effects }]) =>
        effects.includes('start-daemon') ? [`${phase} ${input}`] : [],
      ),
    );
    expect(places).toEqual(['leasing lease-read']);
  });

  it('takes 48 h in no phase after the daemon got SIGTERM, except in stopping', () => {
    const inputs = (phase: GuardPhase) => Object.keys(GUARD_TABLE[phase]) as GuardInput[];
    for (const phase of ['draining', 'left', 'died', 'ended'] as const)
      expect(inputs(phase).flatMap((input) => stepGuard(phase, input).effects)).not.toContain('renew');
  });

  it('releases only after the daemon has exited', () => {
    for (const phase of ['leasing', 'working', 'draining', 'stopping'] as const)
      for (const [input, { effects }] of Object.entries(GUARD_TABLE[phase]))
        if (input !== 'daemon-exited') expect(effects).not.toContain('release');
  });

  it('changes nothing for an input without a row', () => {
    expect(stepGuard('ended', 'stop')).toEqual({ to: 'ended', effects: [] });
    expect(stepGuard('draining', 'renewed')).toEqual({ to: 'draining', effects: [] });
  });
});
