import { describe, expect } from 'vitest';
import { rows } from '../support/runs.ts';
import { type AgentEndpoint, answer, BLOCKED, FAULTS, HOUR_MS, type Trace } from './agent-endpoint.ts';
import {
  GUARD_SHELLS,
  guardTest,
  KEEPER_THAT_ENDS,
  LOG_THAT_NOBODY_READS,
  TIME_THAT_STANDS,
} from './running-guard.ts';

const AT_EVERY_LOOK = { RENEW: 0 };
const SECOND_MS = 1_000;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** A prelude in which /proc has no uptime. */
const UPTIME_THAT_CANNOT_BE_READ = `read() {
  [ "$2" != now ] || return 1
  command read "$@"
}
`;

describe.concurrent.each(GUARD_SHELLS)('a guard at work, under $name', ({ isMissing, ...shell }) => {
  const test = guardTest.skipIf(isMissing);

  test('renews for 48 h, each time after a look', async ({ working }) => {
    const { trace } = await working({ shell, intervalsMs: AT_EVERY_LOOK });
    await trace.until('agent: protect', { times: 4 });
    const calls = trace.having('agent: ').filter((call) => call !== 'agent: metadata');
    expect(calls.slice(0, 2)).toEqual(['agent: protect 2880', 'agent: look']);
    expect(calls.slice(2, 8)).toEqual(Array(3).fill(['agent: look', 'agent: protect 2880']).flat());
  });

  test('sleeps before it tries again for a lease, before each look, and until the release is read', async ({
    start,
  }) => {
    const guard = await start({
      shell,
      prelude: SLEEP_THAT_TELLS,
      environment: { AUTOSCALER_TEST_LOOK_MS: undefined, AUTOSCALER_TEST_RETRY_MS: undefined },
      prepare: (agent) => agent.misbehaves('protect', BLOCKED, 1),
    });
    const { trace, agent } = guard;
    await trace.until('guard: working');
    const lease = ['metadata', 'protect 2880', 'look'];
    expect(doings(trace, 0)).toEqual([...lease, 'sleeps 10 s', 'slept', ...lease, 'metadata']);

    const from = await trace.until('agent: look', { times: 3 });
    const to = await trace.until('agent: look', { times: 2, from });
    const aLook = ['sleeps 30 s', 'slept', 'look'];
    expect(doings(trace, from, to)).toEqual([...aLook, ...aLook]);

    agent.misbehaves('release', { kind: 'reset' }, 1);
    guard.crashDaemon(70);
    const tried = await trace.until('agent: release');
    agent.misbehaves('look', { kind: 'reset' }, 1);
    const released = await trace.until('agent: look', { times: 3, from: tried });
    const aTry = ['sleeps 10 s', 'slept', 'look'];
    expect(doings(trace, tried, released)).toEqual([...aTry, 'release', ...aLook, ...aLook]);
  });

  test('renews once when a renewal is due, and not before the next one is due', async ({ working }) => {
    const guard = await working({ shell, prelude: TIME_THAT_STANDS });
    const { trace } = guard;
    await trace.until('agent: look', { times: 2 }); // by now it has planned its renewal
    guard.passTime(HOUR_S / 2);
    const renewed = await trace.until('agent: protect', { times: 2 });
    await trace.until('agent: look', { times: 5, from: renewed });
    expect(trace.having('agent: protect')).toEqual(['agent: protect 2880', 'agent: protect 2880']);
  });

  test('renews again after the next look when a renewal has no answer', async ({ working }) => {
    const guard = await working({ shell, prelude: TIME_THAT_STANDS });
    const { trace, agent } = guard;
    await trace.until('agent: look', { times: 2 });
    agent.misbehaves('protect', { kind: 'reset' }, 1);
    guard.passTime(HOUR_S / 2);
    await trace.until('agent: protect', { times: 3 });
  });

  test('renews by the date when it cannot read the uptime', async ({ working }) => {
    const { trace } = await working({
      shell,
      prelude: UPTIME_THAT_CANNOT_BE_READ,
      intervalsMs: AT_EVERY_LOOK,
    });
    await trace.until('agent: protect', { times: 3 });
  });

  test('drains on a request when no answer has told it the time of the agent', async ({ start }) => {
    const { trace, agent } = await start({
      shell,
      prepare: (fresh) => fresh.misbehaves('protect', { kind: 'lost' }),
    });
    await trace.until('guard: working leased');
    await trace.until('daemon: started');
    agent.leaves(23 * HOUR_MS);
    await trace.until('guard: draining asked');
  });

  test('drains when less than 24 h are left, and never overwrites the drain request', async ({ working }) => {
    const guard = await working({ shell, intervalsMs: AT_EVERY_LOOK });
    const { trace, agent } = guard;
    guard.giveJob();
    let askedAt = 0;
    agent.onCall = (call) => {
      if (call !== 'look' || askedAt > 0) return;
      agent.leaves(23 * HOUR_MS);
      askedAt = trace.events.length;
    };
    await trace.until('guard: draining');
    const looks = await trace.until('agent: look', { times: 4, from: askedAt });
    expect(trace.events.slice(askedAt, looks).filter((event) => event.startsWith('agent: protect'))).toEqual(
      [],
    );
    expect(trace.having('guard: draining')).toEqual(['guard: draining asked']);
  });

  test('continues to work with 24 h left, and drains with a second less', async ({ working }) => {
    const guard = await working({ shell, prelude: TIME_THAT_STANDS });
    const { trace, agent } = guard;
    guard.giveJob(); // a daemon that ends at once may end its guard before the guard has logged why
    const end = agent.expiresAt;
    agent.expiresAt = end - 24 * HOUR_MS;
    await trace.until('agent: look', { times: 3, from: trace.events.length });
    expect(trace.having('guard: draining')).toEqual([]);
    agent.expiresAt -= SECOND_MS;
    await trace.until('guard: draining asked');
  });

  test('holds a lease of less than 12 h while its daemon drains, and none of 12 h', async ({ working }) => {
    const guard = await working({ shell, prelude: TIME_THAT_STANDS });
    const { trace, agent } = guard;
    guard.giveJob();
    agent.expiresAt -= 36 * HOUR_MS;
    await trace.until('guard: draining asked');
    await trace.until('agent: look', { times: 3, from: trace.events.length });
    expect(trace.having('agent: protect')).toEqual(['agent: protect 2880']);
    agent.expiresAt -= SECOND_MS;
    await trace.until('agent: protect', { times: 2 });
    expect(trace.having('agent: protect')).toEqual(['agent: protect 2880', 'agent: protect 1380']);
  });

  test('holds the lease as leaving, never as working, once it is gone', async ({ working }) => {
    const guard = await working({ shell });
    const { trace, agent } = guard;
    guard.giveJob();
    agent.leaves(0);
    await trace.until('guard: draining lease-gone');
    await trace.until('agent: look', { times: 3, from: trace.events.length });
    expect(trace.having('agent: protect')).toEqual(['agent: protect 2880', 'agent: protect 1380']);
  });

  test('reads dates of any digits', async ({ working }) => {
    const { trace, agent } = await working({ shell });
    for (const date of ['3000-10-10T00:00:00Z', '3999-01-01T09:09:09Z', '3999-09-29T19:59:59Z']) {
      agent.expiresAt = Date.parse(date);
      await trace.until('agent: look', { times: 3, from: trace.events.length });
    }
    expect(trace.having('guard: working')).toEqual(['guard: working leased']);
  });

  test('reads answers of eight thousand bytes', async ({ working }) => {
    const pad = (agent: AgentEndpoint): void => {
      agent.padding = 7_800;
    };
    const { trace } = await working({ shell, prepare: pad, intervalsMs: AT_EVERY_LOOK });
    await trace.until('agent: protect', { times: 3 });
    expect(trace.having('guard: working')).toEqual(['guard: working leased']);
  });

  test.for(rows(FAULTS, 2))('forgives an agent that $is', async ({ fault, why }, { working }) => {
    const { trace, agent } = await working({ shell });
    agent.misbehaves('look', fault, 3);
    await trace.until('guard: working sees-again');
    expect(trace.having('guard: working')).toEqual([
      'guard: working leased',
      `guard: working blind-${why}`,
      'guard: working sees-again',
    ]);
    expect(trace.having('guard: draining')).toEqual([]);
  });

  test('keeps little of an answer that never ends', async ({ working }) => {
    const { trace, agent, peakMib } = await working({ shell, intervalsMs: { CALL: 2_000 } });
    agent.misbehaves('look', { kind: 'endless' }, 1);
    await trace.until('guard: working sees-again');
    expect(trace.having('guard: working blind')).toEqual(['guard: working blind-curl-28']);
    expect(peakMib()).toBeLessThan(32);
  });

  test('drains only after it could not look for 6 h, and shows this as soon as it can', async ({
    working,
  }) => {
    const guard = await working({ shell, prelude: TIME_THAT_STANDS });
    const { trace, agent } = guard;
    guard.giveJob();
    for (const passed of [5 * HOUR_S, 10 * HOUR_S]) {
      agent.misbehaves('look', { kind: 'reset' });
      guard.passTime(passed);
      await trace.until('agent: look', { times: 3, from: trace.events.length });
      agent.behaves();
      await trace.until('guard: working sees-again', { times: passed / (5 * HOUR_S) });
    }
    agent.misbehaves('look', { kind: 'reset' });
    guard.passTime(16 * HOUR_S);
    await trace.until('guard: draining');
    expect(trace.having('guard: draining')).toEqual(['guard: draining blind']);
    expect(trace.having('agent: protect 1380')).toEqual([]);
    const from = trace.events.length;
    agent.behaves();
    await trace.until('agent: protect', { from });
    expect(trace.having('agent: protect', from)[0]).toBe('agent: protect 1380');
    await trace.until('guard: draining sees-again');
    expect(guard.isDaemonAlive()).toBe(true);
  });

  test('ignores a refusal between successful renewals', async ({ working }) => {
    const { trace, agent } = await working({ shell, intervalsMs: AT_EVERY_LOOK });
    let refused = false;
    agent.onCall = (call) => {
      if (call !== 'protect') return;
      refused = !refused;
      agent.misbehaves('protect', BLOCKED, refused ? 1 : 0);
    };
    await trace.until('agent: protect', { times: 7 });
    expect(trace.having('guard: draining')).toEqual([]);
  });

  test('drains once ECS has refused two renewals in a row', async ({ working }) => {
    const guard = await working({ shell, intervalsMs: AT_EVERY_LOOK });
    const { trace, agent } = guard;
    guard.giveJob();
    const from = trace.events.length;
    agent.misbehaves('protect', BLOCKED, 2);
    await trace.until('guard: draining refused-twice');
    await trace.until('daemon: SIGTERM');
    const renewals = trace.having('agent: protect 2880', from);
    expect(renewals.length).toBeGreaterThanOrEqual(2);
    expect(renewals.length).toBeLessThanOrEqual(3);
  });

  test('exits with its code although a stop comes as it ends', async ({ working }) => {
    const guard = await working({ shell, prelude: STOP_AS_IT_ENDS, intervalsMs: { DIED: 0 } });
    guard.crashDaemon(70);
    await guard.trace.until('exit 70');
  });

  test('treats no other failure as a drain request', async ({ working }) => {
    const { trace, agent } = await working({ shell, intervalsMs: AT_EVERY_LOOK });
    agent.misbehaves('protect', answer('{"failure":{"Reason":"MISSING","Detail":"DEPLOYMENT_BLOCKED"}}'));
    await trace.until('agent: protect', { times: 5 });
    expect(trace.having('guard: draining')).toEqual([]);
  });

  test.for(rows([-3 * DAY_S, 3 * DAY_S], 1))(
    'does not mind a clock that steps by %d s',
    async (step, { working }) => {
      const guard = await working({ shell, prelude: CLOCK_THAT_STEPS });
      const { trace, agent } = guard;
      guard.giveJob();
      guard.stepClock(step);
      await trace.until('agent: look', { times: 3, from: trace.events.length });
      expect(trace.having('guard: draining')).toEqual([]);
      agent.leaves(23 * HOUR_MS);
      await trace.until('guard: draining asked');
    },
  );

  test('drains on a request that comes while the daemon starts', async ({ start }) => {
    const { trace } = await start({
      shell,
      intervalsMs: { SETTLE: 500, LEFT: 0 },
      prepare: (agent) => {
        agent.onCall = (call) => {
          if (call === 'metadata') agent.leaves(23 * HOUR_MS);
        };
      },
    });
    await trace.until('daemon: SIGTERM');
    await trace.until('exit 0');
    expect(trace.having('guard: left')).toEqual(['guard: left daemon-exited']);
  });

  test('sends no signal to a daemon that is still starting', async ({ start }) => {
    const guard = await start({ shell, intervalsMs: { SETTLE: 600_000 } });
    const { trace, agent } = guard;
    await trace.until('daemon: started');
    agent.leaves(23 * HOUR_MS);
    await trace.until('guard: draining');
    guard.signal('SIGTERM');
    await trace.until('agent: look', { times: 4, from: trace.events.length });
    expect(trace.having('daemon: SIGTERM')).toEqual([]);
    expect(trace.having('exit')).toEqual([]);
  });

  test('keeps waiting when its shell reports the end of the daemon too early', async ({ working }) => {
    const guard = await working({ shell, prelude: WAIT_THAT_RETURNS_EARLY, intervalsMs: { DIED: 0 } });
    const { trace } = guard;
    await trace.until('agent: look', { times: 4, from: trace.events.length });
    expect(trace.having('agent: release')).toEqual([]);
    guard.crashDaemon(70);
    await trace.until('exit 70');
  });

  test.for([
    { does: 'is interrupted as the daemon ends', code: 70, prelude: WAIT_THAT_IS_INTERRUPTED_AT_LAST },
    { does: 'returns it only once', code: 70, prelude: WAIT_THAT_FORGETS },
    { does: 'returns only once what could be a signal', code: 200, prelude: WAIT_THAT_FORGETS },
    {
      does: 'returns it only once and another process has its id',
      ...{ code: 70, prelude: WAIT_THAT_FORGETS + ID_THAT_IS_USED_AGAIN },
    },
  ])('exits with the code of its daemon when wait $does', async ({ code, prelude }, { working }) => {
    const guard = await working({ shell, prelude, intervalsMs: { DIED: 0 } });
    guard.crashDaemon(code);
    await guard.trace.until('exit');
    expect(guard.trace.having('exit')).toEqual([`exit ${code}`]);
  });

  test('exits with 127 when its shell never knew the code of its daemon', async ({ working }) => {
    const guard = await working({ shell, prelude: WAIT_THAT_KNOWS_NO_CODE, intervalsMs: { DIED: 0 } });
    guard.crashDaemon(70);
    await guard.trace.until('exit 127');
  });

  test('releases the protection when its shell loses the code of its daemon', async ({ working }) => {
    const guard = await working({ shell, prelude: WAIT_THAT_LOSES_THE_CODE, intervalsMs: { DIED: 0 } });
    const { trace } = guard;
    guard.crashDaemon(70);
    await trace.until('guard: died');
    await trace.until('agent: release');
    await trace.until('exit');
  });

  test('releases the protection only after a renewal that is under way', async ({ working }) => {
    const guard = await working({ shell, prelude: KILL_THAT_TELLS, intervalsMs: AT_EVERY_LOOK });
    const { trace, agent } = guard;
    const { promise, resolve } = Promise.withResolvers<void>();
    agent.misbehaves('protect', { kind: 'held', until: promise }, 1);
    await trace.until('agent: protect', { from: trace.events.length });
    guard.crashDaemon(70);
    const asked = await trace.until('daemon: the keeper is to end', { times: 2 });
    expect(trace.having('agent: release')).toEqual([]);
    resolve();
    const released = await trace.until('agent: release');
    await trace.until('agent: look', { times: 3, from: released });
    expect(trace.having('agent: protect', asked)).toEqual([]);
    expect(agent.expiresAt).toBe(0);
  });

  test('ends no sleep that is over, whose id another process may have', async ({ working }) => {
    const guard = await working({ shell, prelude: KILL_THAT_TELLS });
    const { trace, agent } = guard;
    guard.giveJob();
    agent.gate.close();
    await agent.gate.arrival();
    guard.signal('SIGTERM');
    await trace.until('daemon: SIGTERM');
    agent.gate.open();
    await trace.until('guard: stopping signal');
    expect(trace.having('daemon: the sleep is to end')).toEqual([]);
  });

  test('leaves no process when its daemon dies long before the next look', async ({ start }) => {
    const { trace } = await start({ shell, daemon: ['false'], intervalsMs: { LOOK: 3_600_000, DIED: 0 } });
    await trace.until('all gone');
  });

  test('continues when its log is closed', async ({ working }) => {
    const guard = await working({ shell, intervalsMs: { LEFT: 0 } });
    const { trace, agent } = guard;
    guard.giveJob();
    guard.process.stderr?.destroy();
    agent.misbehaves('look', { kind: 'reset' }, 1); // something to log
    await trace.until('agent: look', { times: 4, from: trace.events.length });
    expect(trace.having('daemon: SIGTERM')).toEqual([]);
    agent.leaves(23 * HOUR_MS);
    await trace.until('daemon: SIGTERM');
    guard.finishJob();
    await trace.until('agent: release');
    await trace.until('exit 0');
  });

  test('renews, drains and releases when nobody reads its log and the log is full', async ({ start }) => {
    const guard = await start({ shell, prelude: LOG_THAT_NOBODY_READS, intervalsMs: { RENEW: 0, LEFT: 0 } });
    const { trace, agent } = guard;
    await trace.until('daemon: started');
    guard.giveJob();
    await trace.until('agent: protect', { times: 2 });
    guard.fillLog();
    agent.misbehaves('look', { kind: 'reset' }, 1); // something to log
    await trace.until('agent: protect', { times: 3, from: trace.events.length });
    agent.leaves(23 * HOUR_MS);
    await trace.until('daemon: SIGTERM');
    guard.finishJob();
    await trace.until('agent: release');
    await trace.until('exit 0');
  });

  test.for([
    { why: 'it cannot fork', prelude: KEEPER_THAT_ENDS },
    { why: 'the OOM killer chose it', prelude: KEEPER_THAT_IS_KILLED },
  ])('drains when its keeper ends because $why', async ({ prelude }, { working }) => {
    const guard = await working({ shell, prelude, intervalsMs: { SETTLE: 0 } });
    const { trace } = guard;
    guard.giveJob();
    await trace.until('agent: look', { times: 4, from: trace.events.length });
    guard.breakKeeper();
    await trace.until('daemon: SIGTERM');
    guard.finishJob();
    await trace.until('agent: release');
    await trace.until('guard: left keeper-ended');
  });

  test.for(
    rows(
      (['children', 'all'] as const).flatMap((which) =>
        // bash learns of no SIGKILL to the keeper and its watcher at once
        (shell.name === 'bash' ? (['SIGTERM'] as const) : (['SIGTERM', 'SIGKILL'] as const)).map(
          (signal) => ({
            which,
            signal,
          }),
        ),
      ),
      2,
    ),
  )('drains, and renews nothing, when $signal ends its helpers: $which', async (row, { working }) => {
    const guard = await working({ shell, intervalsMs: AT_EVERY_LOOK });
    const { trace, agent } = guard;
    guard.giveJob();
    agent.gate.close();
    await agent.gate.arrival();
    const from = trace.events.length;
    guard.signalHelpers(row.signal, row.which);
    agent.gate.open();
    await trace.until('daemon: SIGTERM');
    guard.finishJob();
    const released = await trace.until('agent: release');
    await trace.until('agent: look', { times: 3, from: released });
    expect(trace.having('agent: protect', from)).toEqual([]);
    expect(trace.having('guard: left')).toEqual(['guard: left keeper-ended']);
  });
});

/** What a guard with `SLEEP_THAT_TELLS` does in turn: its calls, and what it sleeps between them. */
function doings({ events }: Trace, from: number, to?: number): readonly string[] {
  return events.slice(from, to).flatMap((event) => {
    const [, call] = /^agent: (.*)$/.exec(event) ?? [];
    const [, word, seconds] = /^daemon: (sleeps|slept) (\d+)$/.exec(event) ?? [];
    const jittered = [10, 30].find((each) => Math.abs(Number(seconds) - each) <= each / 3 + 1);
    if (jittered === undefined) return call === undefined ? [] : [call];
    return [word === 'slept' ? word : `sleeps ${jittered} s`];
  });
}

/** A prelude in which a stop comes while the guard logs that it ends. */
const STOP_AS_IT_ENDS = `timeout() {
  shift
  "$@"
  case $* in *ended*) kill -s TERM $$ ;; esac
}
`;

/** A prelude that tells how long the guard sleeps, and makes it short. The test must see it apart from the calls. */
const SLEEP_THAT_TELLS = `sleep() {
  echo "sleeps $1"
  command sleep 0.1
  echo "slept $1"
  command sleep 0.1
}
`;

/** A prelude that tells when the main process ends its keeper, and the keeper its sleep. */
const KILL_THAT_TELLS = `kill() {
  [ "$1" != "$keeper" ] || echo "the keeper is to end"
  [ "$1" != "$nap" ] || echo "the sleep is to end"
  command kill "$@"
}
`;

const KEEPER_THAT_IS_KILLED = KEEPER_THAT_ENDS.replace('exit 2', "sh -c 'kill -s KILL $PPID'");

/** A `wait` that returns early without a handled signal, as bash's does at times. */
const WAIT_THAT_RETURNS_EARLY = `wait() {
  [ "$phase" != working ] || [ "$((waits += 1))" -gt 3 ] || return 138
  command wait "$@"
}
`;

/**
 * A shell may report an exit code only once. bash in POSIX mode does, and dash and busybox do when
 * the next job replaces the reported one. This `wait` keeps the code. A `wait` that a signal
 * interrupts has reported nothing.
 */
const WAIT_THAT_IS_INTERRUPTED_AT_LAST = `wait() {
  [ "$heard" = "" ] || [ "$phase $1" != "gone $daemon" ] || return "$heard"
  command wait "$@"
  last=$?
  [ "$1" != "$daemon" ] || [ "$last" -gt 128 ] || heard=$last
  [ "$phase" != working ] || return 138
  return "$last"
}
`;

const WAIT_THAT_FORGETS = `wait() {
  case $heard in 70 | 200) return 127 ;; esac
  command wait "$@"
  heard=$?
  return "$heard"
}
`;

/** A prelude in which there is always a process with the daemon's id. */
const ID_THAT_IS_USED_AGAIN = `kill() {
  [ "$1 $2" != "-0 $daemon" ] || return 0
  command kill "$@"
}
`;

/** A `wait` for which the daemon is no child once it has ended. */
const WAIT_THAT_KNOWS_NO_CODE = `wait() {
  command wait "$@"
  heard=$?
  [ "$1" != "$daemon" ] || kill -0 "$daemon" 2>/dev/null || return 127
  return "$heard"
}
`;

/**
 * A `wait` that loses the code if a signal comes when the daemon ends, as bash's does at times. It
 * then waits until the next signal.
 */
const WAIT_THAT_LOSES_THE_CODE = `wait() {
  [ "$phase $1" != "gone $daemon" ] || set "$keeper"
  command wait "$@"
  heard=$?
  [ "$1" != "$daemon" ] || return 138
  return "$heard"
}
`;

/**
 * A `date` whose present time is wrong by the seconds of `stepClock`. It parses given dates
 * correctly.
 */
const CLOCK_THAT_STEPS = `date() {
  [ $# -eq 1 ] || { command date "$@"; return; }
  echo $(($(command date +%s) + $(cat "$STAND_IN/step" 2>/dev/null || echo 0)))
}
`;
