/**
 * A look may be lost, repeated, overlapped or interrupted anywhere. No job is lost, and no task is
 * launched twice.
 */
import { describe, expect, it } from 'vitest';
import { lookAndAct } from '../../lambda/look/look.ts';
import type { Ports } from '../../lambda/look/ports.ts';
import { cleanLook, type Lab, startLongLab } from '../support/lab.ts';
import { IS_FULL, rows } from '../support/runs.ts';

const POOLS = [
  { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 },
  { name: 'gpu', organization: 'default', tags: { cluster: 'gpu' }, desiredCount: 0 },
  { name: 'data', organization: 'data', tags: { team: 'data' }, desiredCount: 0 },
];

/**
 * Submits builds, so that the autoscaler raises counts, asks tasks to leave and lowers counts
 * within 15 minutes.
 */
function submit({ world }: Lab): void {
  const build = (organization: string, tags: Record<string, string>, afterS: number, seconds: number) =>
    world.timeline.after(afterS * 1000, () =>
      world.coderd.submitJob({ organization, tags, durationMs: seconds * 1000 }),
    );
  for (let index = 0; index < 4; index++) build('default', {}, 5, 30 + 40 * index);
  for (let index = 0; index < 3; index++) build('data', { team: 'data' }, 60, 50);
  build('default', { cluster: 'gpu' }, 200, 30);
  build('default', {}, 300, 20);
}

type Outcome = {
  readonly launched: number;
  readonly statuses: readonly string[];
  readonly killed: number;
  readonly end: number;
};

function outcomeOf(lab: Lab): Outcome {
  const { tasks, killed } = lab.world.figures();
  const statuses = lab.world.coderd.jobs().map(({ status }) => status);
  return { launched: tasks.launched, statuses, killed, end: tasks.running };
}

const ALL_DONE = { statuses: Array(9).fill('succeeded'), killed: 0, end: 0 };
const LENGTH_S = 960;
const CUT_S = 400;
const REST_S = IS_FULL ? 10 : 20;

/** Runs the scenario: `each` every 10 s until CUT_S, and clean looks after that. */
async function scenario(each: (lab: Lab, ports: Ports) => Promise<unknown>, readLagMs = 0): Promise<Outcome> {
  const lab = await startLongLab({ pools: POOLS, readLagMs });
  submit(lab);
  const ports = lab.ports();
  for (let passed = 0; passed < CUT_S; passed += 10) {
    lab.pass(10);
    await each(lab, ports);
  }
  for (let passed = CUT_S; passed < LENGTH_S; passed += REST_S) {
    lab.pass(REST_S);
    await cleanLook(ports, lab.config);
  }
  return outcomeOf(lab);
}

/** Ports that fail after some calls, like those of an interrupted Lambda function. */
function cutAfter(ports: Ports, calls: number): { readonly ports: Ports; readonly made: () => number } {
  let made = 0;
  const cut = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          if (name === 'clock') return member.apply(target, args);
          if (made >= calls) throw new Error('cut off');
          made += 1;
          return member.apply(target, args);
        };
      },
    });
  return { ports: { coderd: cut(ports.coderd), ecs: cut(ports.ecs), clock: ports.clock }, made: () => made };
}

/** Nine builds need one task each at most. */
const MOST_TASKS = 9;

describe('a look', () => {
  it('launches nothing twice if it runs twice at once', async () => {
    const done = await scenario(twice);
    expect(done).toMatchObject(ALL_DONE);
    expect(done.launched).toBeLessThanOrEqual(MOST_TASKS);
  });

  it('loses and kills nothing if it runs twice at once on late reads', async () => {
    expect(await scenario(twice, 3_000)).toMatchObject(ALL_DONE);
  });

  it('loses nothing and launches nothing twice if it stops after any call', async () => {
    const most = await mostCalls();
    expect(most).toBeGreaterThan(10);
    for (const calls of rows([...Array(most + 1).keys()], 8)) {
      // an interrupted look rejects or ends with failures. It must not affect the next one
      const cut = await scenario((lab, ports) =>
        lookAndAct(cutAfter(ports, calls).ports, lab.config).catch(() => {}),
      );
      expect(cut, `cut off after ${calls} calls`).toMatchObject(ALL_DONE);
      expect(cut.launched, `tasks launched when cut off after ${calls} calls`).toBeLessThanOrEqual(
        MOST_TASKS,
      );
    }
  });
});

const twice = (lab: Lab, ports: Ports): Promise<unknown> =>
  Promise.all([cleanLook(ports, lab.config), cleanLook(lab.ports(), lab.config)]);

/** The most calls that one look of the scenario makes. */
async function mostCalls(): Promise<number> {
  let most = 0;
  await scenario(async (lab, ports) => {
    const counted = cutAfter(ports, Number.POSITIVE_INFINITY);
    await cleanLook(counted.ports, lab.config);
    most = Math.max(most, counted.made());
  });
  return most;
}
