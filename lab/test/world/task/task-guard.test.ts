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
    expect(`gpu-${TASK_ID}`.length).toBeLessThanOrEqual(63);
  });

  it('accepts a lease whose answer was lost', () => {
    const { guard, pass } = world((agent) => {
      agent.losesAnswers = true;
    });
    pass(4 * SECOND);
    expect(guard.phase).toBe('working');
  });

  it('exits after 10 min without a lease, and never starts the daemon', () => {
    const { server, exits, pass } = world((agent) => {
      agent.refusal = 'DEPLOYMENT_BLOCKED';
    });
    pass(10 * MINUTE - 1);
    expect(exits).toEqual([]);
    pass(SECOND);
    expect(exits).toMatchObject([{ code: 75 }]);
    expect(server.names).toEqual([]);
  });

  it('takes the lease late if ECS refuses it at first', () => {
    const { agent, guard, pass } = world((it) => {
      it.refusal = 'DEPLOYMENT_BLOCKED';
    });
    pass(5 * MINUTE);
    agent.refusal = undefined;
    pass(20 * SECOND);
    expect(guard.phase).toBe('working');
    pass(10 * MINUTE);
    expect(guard.phase).toBe('working');
  });

  it('never starts the daemon of a task that is stopping', () => {
    const { guard, server, pass } = world((agent) => {
      agent.desired = 'STOPPED';
    });
    pass(MINUTE);
    expect(server.names).toEqual([]);
    expect(guard.phase).toBe('leasing');
  });

  it('never starts the daemon of a task that ECS had chosen before the lease came', () => {
    const { agent, guard, server, pass } = world();
    pass(2 * SECOND);
    agent.desired = 'STOPPED';
    pass(MINUTE);
    expect(server.names).toEqual([]);
    expect(guard.phase).toBe('leasing');
  });

  it('exits at once at SIGTERM', () => {
    const { guard, exits, pass } = world((agent) => {
      agent.refusal = 'DEPLOYMENT_BLOCKED';
    });
    pass(MINUTE);
    guard.terminate();
    pass(SECOND);
    expect(exits).toMatchObject([{ code: 0 }]);
  });
});

describe('a working guard', () => {
  it('renews every 10 to 20 min', () => {
    const { agent, pass } = world();
    pass(10 * HOUR);
    expect(agent.writes.every((minutes) => minutes === 2880)).toBe(true);
    expect(agent.writes.length).toBeGreaterThanOrEqual(29);
    expect(agent.writes.length).toBeLessThanOrEqual(61);
  });

  it('drains when less than 24 h are left, and never renews over the drain request', () => {
    const { agent, server, guard, exits, pass, leave } = world();
    pass(MINUTE);
    expect(server.give(30 * MINUTE)).toBe(true);
    leave(23 * HOUR);
    pass(41 * SECOND);
    expect(guard.phase).toBe('draining');
    pass(25 * MINUTE);
    expect(agent.writes).toEqual([2880]);
    expect(server.log).toEqual([]);
    pass(5 * MINUTE);
    expect(server.log).toEqual(['succeeded', 'closed']);
    expect(guard.phase).toBe('left');
    expect(agent.writes).toEqual([2880, 'release']);
    expect(exits).toEqual([]);
  });

  it.each([
    { left: 24 * HOUR + 45 * SECOND, phase: 'working', because: '24 h or more are left at the look' },
    { left: 24 * HOUR - 1, phase: 'draining', because: 'less than 24 h are left' },
  ])('is $phase with $left ms left: $because', ({ left, phase }) => {
    const { server, guard, pass, leave } = world();
    pass(MINUTE);
    server.give(HOUR);
    leave(left);
    pass(41 * SECOND);
    expect(guard.phase).toBe(phase);
  });

  it('takes no job once it drains', () => {
    const { server, pass, leave } = world();
    pass(MINUTE);
    leave(23 * HOUR);
    pass(41 * SECOND);
    expect(server.give(MINUTE)).toBe(false);
  });

  it('sets 23 h again when its lease is gone, then drains', () => {
    const { agent, server, guard, pass, leave } = world();
    pass(MINUTE);
    server.give(HOUR);
    leave(0);
    pass(41 * SECOND);
    expect(guard.phase).toBe('draining');
    expect(agent.writes).toEqual([2880, 1380]);
    pass(30 * MINUTE);
    expect(agent.writes).toEqual([2880, 1380]);
  });

  it('renews the 23 h when less than 12 h are left and the job still runs', () => {
    const { agent, server, guard, pass, leave } = world();
    pass(MINUTE);
    server.give(40 * HOUR);
    leave(23 * HOUR);
    pass(10.9 * HOUR);
    expect(guard.phase).toBe('draining');
    expect(agent.writes.filter((minutes) => minutes === 1380)).toEqual([]);
    pass(28 * HOUR);
    expect(agent.writes.filter((minutes) => minutes === 1380)).toHaveLength(3);
    expect(server.log).toEqual([]);
    pass(2 * HOUR);
    expect(server.log).toEqual(['succeeded', 'closed']);
    expect(guard.phase).toBe('ended');
  });

  it('drains at once and sets 23 h when its first look shows less than 12 h', () => {
    const { agent, server, guard, pass, leave } = world();
    pass(MINUTE);
    server.give(HOUR);
    leave(12 * HOUR - 1);
    pass(41 * SECOND);
    expect(guard.phase).toBe('draining');
    expect(agent.writes).toEqual([2880, 1380]);
  });

  it('drains after exactly 6 h without a look, and then shows that it is leaving', () => {
    const { agent, server, guard, pass } = world();
    pass(MINUTE);
    server.give(8 * HOUR);
    agent.down = true;
    pass(6 * HOUR - MINUTE);
    expect(guard.phase).toBe('working');
    pass(2 * MINUTE);
    expect(guard.phase).toBe('draining');
    agent.down = false;
    pass(MINUTE);
    expect(agent.expiresAt - (START + 6 * HOUR)).toBeLessThan(24 * HOUR);
    expect(server.log).toEqual([]);
  });

  it('drains when its keeper ends, and changes its protection only once the daemon has exited', () => {
    const { agent, server, guard, pass } = world();
    pass(MINUTE);
    server.give(3 * HOUR);
    guard.endKeeper();
    expect(guard.phase).toBe('draining');
    pass(2 * HOUR);
    expect(agent.writes).toEqual([2880]);
    pass(HOUR + MINUTE);
    expect(server.log).toEqual(['succeeded', 'closed']);
    expect(agent.writes).toEqual([2880, 'release']);
  });

  it('goes on working after less than 6 h without a look', () => {
    const { agent, guard, pass } = world();
    pass(MINUTE);
    for (let i = 0; i < 4; i++) {
      agent.down = true;
      pass(5 * HOUR);
      agent.down = false;
      pass(MINUTE);
    }
    expect(guard.phase).toBe('working');
  });

  it('drains after two refused renewals in a row, not after one', () => {
    const { agent, server, guard, pass } = world();
    pass(MINUTE);
    server.give(HOUR);
    agent.refusal = 'DEPLOYMENT_BLOCKED';
    pass(20 * MINUTE);
    expect(guard.phase).toBe('working');
    pass(21 * MINUTE);
    expect(guard.phase).toBe('draining');
  });

  it('ignores an earlier refusal after a successful renewal', () => {
    const { agent, guard, pass } = world();
    pass(MINUTE);
    const untilRenewal = () => {
      const before = agent.writes.length;
      for (let i = 0; i < 22 * 60 && agent.writes.length === before; i++) pass(SECOND);
    };
    for (let i = 0; i < 6; i++) {
      agent.refusal = 'DEPLOYMENT_BLOCKED';
      untilRenewal();
      agent.refusal = undefined;
      untilRenewal();
    }
    expect(guard.phase).toBe('working');
  });

  it('does not drain after other failures of a renewal', () => {
    const { agent, guard, pass } = world();
    pass(MINUTE);
    agent.refusal = 'MISSING';
    pass(3 * HOUR);
    expect(guard.phase).toBe('working');
  });

  it('passes SIGTERM on to the daemon and waits for it', () => {
    const { server, guard, exits, pass } = world();
    pass(MINUTE);
    server.give(100 * SECOND);
    guard.terminate();
    pass(99 * SECOND);
    expect(exits).toEqual([]);
    expect(server.log).toEqual([]);
    pass(2 * SECOND);
    expect(server.log).toEqual(['succeeded', 'closed']);
    expect(exits).toMatchObject([{ code: 0 }]);
  });

  it('keeps its lease while it waits for the job after SIGTERM', () => {
    const { agent, server, guard, exits, pass, leave } = world();
    pass(MINUTE);
    server.give(9 * HOUR);
    guard.terminate();
    pass(4 * HOUR);
    expect(guard.phase).toBe('stopping');
    expect(agent.writes.length).toBeGreaterThanOrEqual(12);
    expect(new Set(agent.writes)).toEqual(new Set([2880]));
    leave(0);
    pass(41 * SECOND);
    expect(agent.writes.at(-1)).toBe(1380);
    agent.refusal = 'DEPLOYMENT_BLOCKED';
    pass(4 * HOUR);
    expect(guard.phase).toBe('stopping');
    expect(exits).toEqual([]);
    pass(2 * HOUR);
    expect(server.log).toEqual(['succeeded', 'closed']);
    expect(exits).toMatchObject([{ code: 0 }]);
  });

  it('leaves the job unfinished at SIGKILL', () => {
    const { server, guard, exits, killed, pass } = world();
    pass(MINUTE);
    server.give(HOUR);
    guard.kill();
    pass(2 * HOUR);
    expect(server.log).toEqual(['closed']);
    expect(killed).toHaveLength(1);
    expect(exits).toEqual([]);
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

  it('releases again when the protection comes back', () => {
    const { agent, pass, leave } = left();
    expect(agent.expiresAt).toBe(0);
    leave(23 * HOUR);
    pass(41 * SECOND);
    expect(agent.expiresAt).toBe(0);
    expect(agent.writes).toEqual([2880, 'release', 'release']);
  });

  it('releases again when the first call failed', () => {
    const { agent, server, pass, leave } = world();
    pass(MINUTE);
    server.give(2 * MINUTE);
    leave(23 * HOUR);
    pass(MINUTE);
    agent.down = true;
    pass(2 * MINUTE);
    expect(agent.expiresAt).not.toBe(0);
    agent.down = false;
    pass(41 * SECOND);
    expect(agent.expiresAt).toBe(0);
  });

  it('exits 0 after 10 min', () => {
    const { exits, pass } = left();
    pass(9 * MINUTE);
    expect(exits).toEqual([]);
    pass(MINUTE);
    expect(exits).toMatchObject([{ code: 0 }]);
  });

  it('exits at once when ECS stops the task', () => {
    const { guard, exits, pass } = left();
    guard.terminate();
    pass(SECOND);
    expect(exits).toMatchObject([{ code: 0 }]);
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
