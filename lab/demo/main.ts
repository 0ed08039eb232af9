/**
 * `npm run demo`: the deployed function on its schedule against a simulated coderd and ECS on
 * loopback. One real second is ten simulated seconds. It ends by itself.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { changesIn } from '../../cli/logs/logged-changes.ts';
import type { WatchServer } from '../../cli/watch/server.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { Random } from '../world/base/random.ts';
import { wholeNumber } from '../world/base/whole-number.ts';
import { GuardedTasks, killAtExit, missingForGuard } from '../world/guarded/guarded-tasks.ts';
import { serveWorld } from '../world/serve.ts';
import { synthesizeStack } from '../world/synthesized-stack.ts';
import { environmentOf, functionEnvironment } from './function/environment.ts';
import { openPage } from './function/page.ts';
import { RunningFunction } from './function/running-function.ts';
import { demoConfig, demoWorld, planAutostarts, planSteps, SCHEDULE, SPEED, START } from './scenario.ts';
import { isAsPromised, isOver, summarize } from './summary.ts';
import { createView } from './view.ts';

const DRAW_MS = 250;
const GIVE_UP_MS = 85_000;
const WATCH_EVERY_MS = 500;
const GUARD_LOG = 'dist/demo/guards.log';

const program = new Command('demo')
  .description('run the autoscaler against an embedded coderd and ECS')
  .option('--guard', 'run the real guard.sh as one process per task (needs sh and curl)', false)
  .option('--json', 'print the summary as one JSON object on the last line', false)
  .option('--watch', 'play it in a page of your browser, when you open its address', false)
  .option('--seed <number>', 'seed of the random durations', wholeNumber, 1)
  .parse();
const { guard, json, seed, watch } = program.opts<{
  guard: boolean;
  json: boolean;
  seed: number;
  watch: boolean;
}>();
// a reader such as `head` may close the pipe early
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) =>
  code === 'EPIPE' ? process.exit() : program.error(`error: writing the output: ${message}`),
);
/** Both demos can run at the same time. */
const outDir = guard ? 'dist/demo/guard/cdk.out' : 'dist/demo/cdk.out';
const missing = guard ? missingForGuard() : [];
if (missing.length > 0)
  program.error(`running guard.sh: this machine lacks a requirement. Install ${missing.join(', and ')}`);

/** Simulated time begins then. Before, it stands still, also while the page reads the stack. */
let startedAt: number | undefined;
const tookMs = (): number => (startedAt === undefined ? 0 : performance.now() - startedAt);
const clock = (): EpochMs => (START + tookMs() * SPEED) as EpochMs;

const guarded = guard ? new GuardedTasks({ clock, speed: SPEED, logFile: GUARD_LOG }) : undefined;
await guarded?.open();
if (guarded) killAtExit(guarded);
const world = demoWorld({ seed, ...(guarded && { guardedTask: guarded.task }) });
const served = await serveWorld(world, { clock });
const view = createView(world, json ? process.stderr : process.stdout);
if (guarded) view.say(`each task runs the real guard.sh as a process. The guards log to ${GUARD_LOG}`);
view.say('the stack is synthesized with CDK, as cdk deploy does it');
planSteps(world, new Random(seed), view.say);
planAutostarts(world, view.say);
const autoscaler = new RunningFunction(synthesizeStack(demoConfig(served.coderdUrl), outDir), {
  environment: functionEnvironment(world, served),
  onLine: (line) => {
    world.logs.put(world.logGroupName, line);
    for (const change of changesIn(line)) view.change(change);
  },
});
const page = watch ? await waitForPage() : undefined;
startedAt = performance.now();

let failures = 0;
let invocation: Promise<void> | undefined;

let nextInvocationMs = SCHEDULE.firstMs / SPEED;
while (tookMs() < GIVE_UP_MS) {
  world.timeline.advanceTo(clock());
  // EventBridge invokes once a minute; the demo waits for the previous invocation to end
  if (tookMs() >= nextInvocationMs) {
    invocation = autoscaler.invokeUnlessRunning((error) => {
      failures += 1;
      view.say(`the invocation failed: ${messageOf(error)}`);
    });
    nextInvocationMs = tookMs() + SCHEDULE.everyMs / SPEED;
  }
  view.draw();
  if (isOver(world)) break;
  await sleep(DRAW_MS);
}
const over = isOver(world);
if (over) await invocation;

const summary = summarize(world, { seed, guards: guarded?.figures() });
view.end(summary, tookMs());
if (json) process.stdout.write(`${JSON.stringify(summary)}\n`);
process.exitCode = isAsPromised(world, summary) && failures === 0 ? 0 : 1;

// timed out: a running invocation would keep the process alive
if (!over) process.exit();
await Promise.all([autoscaler.close(), served.close(), guarded?.close(), page?.close()]);

/** Waits until somebody opens it. */
async function waitForPage(): Promise<WatchServer> {
  const configFile = join(outDir, 'autoscaler.yaml');
  writeFileSync(configFile, demoConfig(served.coderdUrl));
  const environment = environmentOf(world, served, configFile);
  const opened = await openPage({ environment, now: clock, everyMs: WATCH_EVERY_MS });
  view.say(`the demo begins when you open ${opened.url}`);
  await opened.opened;
  return opened;
}
