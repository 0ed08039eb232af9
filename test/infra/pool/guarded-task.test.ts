/**
 * Runs the container of the synthesized task definition like ECS: the text of the guard must be
 * unchanged.
 */
import { expect } from 'vitest';
import { HOUR_MS, TASK_ID } from '../../guard/agent-endpoint.ts';
import { GUARD_SHELLS, guardTest, STAND_IN } from '../../guard/running-guard.ts';
import { cpu, deployment, synthesize } from '../support/synthesized.ts';
import { containerOf } from '../support/template-parts.ts';

const container = containerOf(synthesize(deployment([cpu])), 'cpu');

// the entry point runs the machine's `sh`. The tools of any shell are enough
const [shell] = GUARD_SHELLS.filter(({ isMissing }) => !isMissing);

guardTest.skipIf(shell === undefined)(
  'runs the task: it takes the lease, runs the provisioner and drains on request',
  async ({ start }) => {
    if (shell === undefined) throw new Error('there is nothing to run it');
    expect(container.Command[0]).toBe('/opt/coder');
    const guard = await start({
      shell,
      entryPoint: container.EntryPoint,
      daemon: [STAND_IN, ...container.Command.slice(1)],
      environment: {
        AUTOSCALER_POOL: undefined,
        ...Object.fromEntries(container.Environment.map(({ Name, Value }) => [Name, Value])),
      },
      intervalsMs: { LEFT: 0 },
    });
    const { trace, agent } = guard;
    guard.giveJob(); // a daemon that ends at once may end its guard before the guard has logged why
    await trace.until('guard: working');
    agent.leaves(23 * HOUR_MS);
    await trace.until('guard: draining');
    guard.finishJob();
    await trace.until('all gone');
    expect(trace.having('daemon: started')[0]).toMatch(
      new RegExp(`^daemon: started \\d+ cpu-${TASK_ID} provisioner start$`),
    );
    expect(trace.having('agent: ')).toEqual(
      expect.arrayContaining(['agent: protect 2880', 'agent: release']),
    );
    expect(trace.having('guard: ')).toEqual([
      'guard: leasing started',
      'guard: working leased',
      'guard: draining asked',
      'guard: left daemon-exited',
      'guard: ended waited',
    ]);
    expect(trace.having('exit')).toEqual(['exit 0']);
  },
);
