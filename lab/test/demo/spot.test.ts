/**
 * The demo's world on Spot: AWS takes back 30 % of the tasks on Spot, and for 20 minutes has no Spot
 * capacity. The builds last longer than in the demo, since SIGTERM gives a build two minutes.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { snapshotToJson } from '../../../lambda/adapters/snapshot-schema.ts';
import { loadConfig } from '../../../lambda/config/load.ts';
import { readConfig } from '../../../lambda/config/read.ts';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { dollarsOf, VIRGINIA } from '../../../lambda/decision/settings/prices.ts';
import { lookAndAct } from '../../../lambda/look/look.ts';
import { run } from '../../../test/support/cli-run.ts';
import { IS_FULL } from '../../../test/support/runs.ts';
import { exampleSnapshot } from '../../demo/example-snapshot.ts';
import { demoConfig, demoWorld, POOLS, planSteps, SCHEDULE } from '../../demo/scenario.ts';
import { Random } from '../../world/base/random.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import type { EcsTask } from '../../world/ecs/task.ts';
import { inProcessPorts } from '../../world/in-process/ports.ts';

const LONGER = 8;
const ROUNDS_MS = [0, 15 * MINUTE_MS];
const END_MS = HOUR_MS;
const LOOK_EVERY_MS = IS_FULL ? 20_000 : 40_000;
const OUTAGE = { fromMs: 15 * MINUTE_MS, toMs: 35 * MINUTE_MS };

async function play(capacity: readonly ['spot', 'on-demand'] | undefined) {
  const stopped: EcsTask[] = [];
  const pools = POOLS.map((pool) => (capacity === undefined ? pool : { ...pool, capacity }));
  const world = demoWorld({ seed: 7, pools, onTaskStopped: (task) => stopped.push(task) });
  const added = capacity === undefined ? '' : `\n    capacity: [${capacity.join(', ')}]`;
  const text = demoConfig('http://127.0.0.1:1').replaceAll('    warm: 0', `    warm: 0${added}`);
  const { config } = readConfig(text, 'demo.yaml');
  const random = new Random(7);
  const longer = { whole: (from: number, to: number) => LONGER * random.whole(from, to) };
  const { timeline, ecs } = world;
  ecs.reclaims = { share: 0.3, afterMs: [30_000, 5 * MINUTE_MS] };
  for (const at of ROUNDS_MS) timeline.after(at, () => planSteps(world, longer, () => undefined));
  const onSpot = capacity === undefined ? [] : POOLS.map(({ name }) => world.service(`${name}/spot`));
  const setOutage = (reason?: string) => {
    for (const { identity } of onSpot) ecs.failPlacement(identity.name, reason);
  };
  timeline.after(OUTAGE.fromMs, () => setOutage('Capacity is unavailable at this time.'));
  timeline.after(OUTAGE.toMs, () => setOutage());
  const ports = inProcessPorts(world, { scheduler: new VirtualScheduler(timeline) })();
  const ledger = new Set<string>();
  const from = timeline.now();
  for (let at = plusMs(from, SCHEDULE.firstMs); at < from + END_MS; at = plusMs(at, LOOK_EVERY_MS)) {
    timeline.advanceTo(at);
    const { plan, failures } = await lookAndAct(ports, config);
    expect(failures).toEqual([]);
    for (const finding of plan.findings)
      if (finding.code === 'build-died-with-task') for (const { job } of finding.builds) ledger.add(job);
  }
  const tasks = [...stopped, ...ecs.tasks().filter(({ state }) => state.lastStatus !== 'STOPPED')];
  return {
    killedByUs: world.figures().killedByUs,
    lost: world
      .kills()
      .map(({ job }) => job.id)
      .toSorted(),
    stopCodes: [...new Set(world.kills().map(({ task }) => task.state.stopCode))],
    ledger: [...ledger].toSorted(),
    dollars: costOf(tasks, timeline.now()),
  };
}

const isOnSpot = ({ provider }: EcsTask['identity']): boolean => provider === 'FARGATE_SPOT';

/** Dollars for the time of the tasks, each of 1 vCPU and 2 GB. */
function costOf(tasks: readonly EcsTask[], now: EpochMs) {
  const dollars = ({ identity, state: { pullStartedAt, stoppedAt = now } }: EcsTask): number => {
    const hours = pullStartedAt === undefined ? 0 : (stoppedAt - pullStartedAt) / HOUR_MS;
    return (
      hours *
      dollarsOf({ cpu: 1024, memory: 2048, architecture: 'arm64', spot: isOnSpot(identity) }, VIRGINIA)
    );
  };
  const onSpot = tasks.filter(({ identity }) => isOnSpot(identity));
  return { spot: sum(onSpot, dollars), all: sum(tasks, dollars) };
}

it('loses builds on Spot only by interruptions, has each of them in the ledger, and costs less', async () => {
  const both = await play(['spot', 'on-demand']);
  const onDemand = await play(undefined);
  expect(both.killedByUs).toBe(0);
  expect(both.stopCodes).toEqual(['SpotInterruption']);
  expect(both.lost.length).toBeGreaterThan(0);
  expect(both.ledger).toEqual(both.lost);
  expect(both.dollars.spot).toBeGreaterThan(0);
  expect(both.dollars.all).toBeLessThan(onDemand.dollars.all);
});

// The example in examples/plan/, and docs/quickstart.md, which shows its plan.

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const PROMPT = '$ ./autoscaler ';
/** Command and output of each block that plans from the example. */
const shown = [...read('docs/quickstart.md').matchAll(/^```\n\$ \.\/autoscaler (.*)\n([\s\S]*?)^```$/gm)]
  .map(([, command = '', output = '']) => ({ command, output }))
  .filter(({ command }) => command.includes('examples/plan'));

describe('the example of a plan', () => {
  it('is shown twice, once with --explain', () => {
    expect(shown.map(({ command }) => command.includes(' --explain gpu'))).toEqual([false, true]);
  });

  it.each(shown)(`gives what the docs show: ${PROMPT}$command`, async ({ command, output }) => {
    expect(await run(...command.split(' '))).toEqual({ code: 0, out: output, err: '' });
  });

  it('has changes, pending jobs, a limit and an unschedulable job', async () => {
    const [first] = shown;
    expect(first?.output).toMatch(/^ {2}\+ /m);
    expect(first?.output).toMatch(/^ {2}~ /m);
    expect(first?.output).toContain('limited to 2 by max');
    expect(first?.output).toMatch(/^unschedulable jobs:$/m);
  });

  it('is what node lab/demo/write-example.ts writes', async () => {
    const { config } = loadConfig('examples/plan/autoscaler.yaml');
    const snapshot = snapshotToJson(await exampleSnapshot(config));
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(JSON.parse(read('examples/plan/snapshot.json')));
  });

  it('contains no token and no secret', () => {
    expect(read('examples/plan/snapshot.json')).not.toMatch(/token|secret|password/i);
  });
});
