/**
 * Runs the function that the stack deploys against a real coderd:
 *
 *   node lab/proof/conformance/function/main.ts --coderd <url> --control <url> --token-file <file>
 *
 * Real provisioner daemons run its builds. A task of the simulated ECS starts each daemon; its
 * first process is the real guard.sh. All times are real: a run takes 9 min. It needs a coderd with
 * a control port (control-port.ts), so CI does not run it. Exits with 1 if a problem is found.
 */
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { messageOf } from '../../../../lambda/decision/model/message-of.ts';
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { functionEnvironment } from '../../../demo/function/environment.ts';
import { RunningFunction } from '../../../demo/function/running-function.ts';
import type { EcsTask } from '../../../world/ecs/task.ts';
import { GuardedTasks, killAtExit, missingForGuard } from '../../../world/guarded/guarded-tasks.ts';
import { serveWorld } from '../../../world/serve.ts';
import { synthesizeStack } from '../../../world/synthesized-stack.ts';
import { World } from '../../../world/world.ts';
import { ControlPort } from '../stage/control-port.ts';
import { RealStage } from '../stage/real-stage.ts';
import { RealDaemons } from './real-daemons.ts';
import { type LaunchedTask, problemsOf, reportText } from './report.ts';
import { configOf, jobsSince, makeFunctionToken, POOLS, play, prepare, workspaceOf } from './story.ts';

const STEP_MS = 250;
const READ_LAG_MS = 2_000;
const GIVE_UP_MS = 15 * MINUTE_MS;

const program = new Command('function-on-coderd')
  .description('run the autoscaler against a real coderd and a simulated ECS')
  .requiredOption('--coderd <url>', 'URL of coderd')
  .requiredOption('--control <url>', 'URL of its control port')
  .option('--token-file <file>', "file with an owner's session token (default: $CODER_SESSION_TOKEN)")
  .parse();
const options = program.opts<{ coderd: string; control: string; tokenFile?: string }>();
const { tokenFile } = options;
const token = (tokenFile ? readFileSync(tokenFile, 'utf8') : (process.env.CODER_SESSION_TOKEN ?? '')).trim();
if (token === '')
  program.error('reading the token: it is missing or empty; pass --token-file or set CODER_SESSION_TOKEN');
const missing = missingForGuard();
if (missing.length > 0)
  program.error(
    `running guard.sh: this machine lacks tools that it needs; install ${missing.join(', and ')}`,
  );

const clock = (): EpochMs => Date.now() as EpochMs;
const errors: string[] = [];
const log = (line: string): void =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
const fail = (error: unknown): void => {
  errors.push(messageOf(error));
  log(`error: ${errors.at(-1)}`);
};

const stage = await RealStage.at({ url: options.coderd, control: options.control, token });
const organization = stage.names.wordFor('organization');
const control = new ControlPort(options.control);
const outDir = `dist/conformance/function/${stage.version}`;
mkdirSync(outDir, { recursive: true });
log(`coderd ${stage.version}: importing templates`);
const functionToken = await makeFunctionToken(stage);
const stack = synthesizeStack(
  configOf({ url: options.coderd, organization, version: stage.version }),
  `${outDir}/cdk.out`,
);
const prepared = await prepare(stage);
log(
  `${prepared.sleepers.length} workspaces of pool sleeping start by schedule at ${prepared.dueAt.toISOString()}`,
);

const tagsOf = (pool: string) => POOLS.find(({ name }) => name === pool)?.tags ?? {};
const daemons = new RealDaemons({ control, tagsOf, onError: fail });
const startDaemon = daemons.start;
const guarded = new GuardedTasks({ clock, speed: 1, logFile: `${outDir}/guards.log`, startDaemon });
await guarded.open();
killAtExit(guarded);
const startedAt = Date.now();
const world = new World({
  start: clock(),
  coderVersion: stage.version,
  seed: startedAt % 2 ** 31,
  pools: POOLS.map((pool) => ({ ...pool, organization, desiredCount: 0 })),
  readLagMs: READ_LAG_MS,
  guardedTask: guarded.task,
});
world.secrets.put(world.tokenSecretName, functionToken);
const served = await serveWorld(world, { clock });
// ECS's answers lag behind; after this they show the services.
await sleep(READ_LAG_MS + STEP_MS);

const functionLog = createWriteStream(`${outDir}/function.log`);
const lambda = new RunningFunction(stack, {
  environment: functionEnvironment(world, served),
  onLine: (line) => void functionLog.write(`${line}\n`),
});
let invocations = 0;
const invoke = async (): Promise<void> => {
  await lambda.invoke().catch((error: unknown) => fail(`the invocation failed: ${messageOf(error)}`));
  invocations += 1;
};

let asked: number | undefined;
play(stage, log).then((builds) => {
  asked = builds;
}, fail);
const desired = new Map<string, number>();
let nextTick = Math.ceil(startedAt / MINUTE_MS) * MINUTE_MS;
let nextInvocation = Date.now();
while (Date.now() < startedAt + GIVE_UP_MS && !(await isOver())) {
  world.timeline.advanceTo(clock());
  await daemons.poll().catch(fail);
  if (Date.now() >= nextInvocation) {
    nextInvocation += MINUTE_MS;
    void invoke();
  }
  if (Date.now() >= nextTick) {
    nextTick += MINUTE_MS;
    await tick().catch(fail);
  }
  sayCounts();
  await sleep(STEP_MS);
}
await lambda.close();
functionLog.end();

const jobs = await jobsSince(stage, startedAt);
const run = {
  coderdVersion: stage.version,
  jobs,
  asked: asked ?? 0,
  sleepers: await Promise.all(prepared.sleepers.map((it) => workspaceOf(stage, it))),
  dueAt: prepared.dueAt,
  tasks: POOLS.flatMap(({ name }) => tasksOf(name).map((task) => launchedTask(name, task))),
  remaining: remaining(),
  killed: daemons.killed,
  invocations,
  errors,
};
process.stdout.write(`${reportText(run)}\nduration: ${Math.round((Date.now() - startedAt) / 1000)} s\n`);
process.exitCode = problemsOf(run).length > 0 ? 1 : 0;
await Promise.all([served.close(), guarded.close()]);

function tasksOf(pool: string): readonly EcsTask[] {
  const { name } = world.service(pool).identity;
  return world.ecs.tasks().filter(({ identity }) => identity.serviceName === name);
}

function launchedTask(pool: string, { identity, state }: EcsTask): LaunchedTask {
  return { pool, daemon: `${pool}-${identity.id}`, goneAt: state.executionStoppedAt };
}

function remaining(): number {
  const alive = world.ecs.tasks().filter((task) => task.state.lastStatus !== 'STOPPED').length;
  return Math.max(alive, ...POOLS.map(({ name }) => world.service(name).state.desiredCount));
}

async function isOver(): Promise<boolean> {
  const isQuiet =
    asked !== undefined && remaining() === 0 && Date.now() > prepared.dueAt.getTime() + MINUTE_MS;
  if (!isQuiet) return false;
  return (await jobsSince(stage, startedAt)).every(({ completed_at }) => completed_at != null);
}

/** Runs coderd's lifecycle executor, once a minute as coderd does. */
async function tick(): Promise<void> {
  const { transitions, errors: refused } = await stage.tick(clock());
  const count = Object.keys(transitions).length;
  if (count > 0) log(`coderd starts ${count} workspaces by their schedule`);
  for (const [id, why] of Object.entries(refused))
    fail(`coderd's lifecycle executor could not start ${id}: ${why}`);
}

function sayCounts(): void {
  for (const { name } of POOLS) {
    const { desiredCount } = world.service(name).state;
    const before = desired.get(name) ?? 0;
    if (before !== desiredCount) log(`pool ${name}: desired count ${before} -> ${desiredCount}`);
    desired.set(name, desiredCount);
  }
}
