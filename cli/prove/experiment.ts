/** The experiment: two tasks, a build in one of them, a lower count, drain requests, a deployment. Each step notes its rows. */
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { seconds } from '../../lambda/explain/format.ts';
import { readLooks } from '../adapters/look-log.ts';
import type { Bench } from './bench/bench.ts';
import { BUILD_S } from './bench/build.ts';
import { noteBoundRole } from './steps/bound-role.ts';
import { choose } from './steps/choice.ts';
import { deploy } from './steps/deploy.ts';
import { drain } from './steps/drain.ts';
import { HOLD_MS, lowerCount } from './steps/hold.ts';
import { noteRole } from './steps/role.ts';
import { pause, startBuild, startTasks, TASKS } from './steps/start.ts';

export async function experiment(bench: Bench): Promise<void> {
  bench.say('Pausing the pool until two looks of the function have seen it (some minutes)');
  await pause(bench);
  await noteRole(bench);
  bench.say(`Starting ${TASKS} tasks (a minute or two)`);
  const tasks = await startTasks(bench);
  if (bench.place.isBound) {
    bench.say("Asking from a task for the protection of one with another pool's tag (up to two minutes)");
    await noteBoundRole(bench, tasks);
  }
  bench.say(`Starting a build of ${BUILD_S / 60} minutes in one of them`);
  const pair = await startBuild(bench, tasks);
  bench.say(`Lowering the desired count to 0 for at least ${seconds(HOLD_MS)}: ECS must keep both tasks`);
  await lowerCount(bench, pair);
  bench.say('Sending both tasks a drain request (up to two minutes)');
  if (await drain(bench, pair)) await choose(bench, pair);
  bench.say('Starting a rolling deployment, and waiting for the end of the build (some minutes)');
  await deploy(bench, pair);
  await noteMessages(bench);
}

/** A look that asks for another one in its minute sends a message, which makes an invocation of its own. */
async function noteMessages(bench: Bench): Promise<void> {
  const looks = await readLooks(bench.place.logs, bench.place.log, bench.since ?? bench.startedAt);
  if (!looks.some(({ lookAgainAfterMs: ms }) => (ms ?? Infinity) < MINUTE_MS / 2))
    return bench.note('messages', undefined, 'no look asked for another one in its minute');
  const times = looks.map(({ loggedAt }) => loggedAt);
  const invocations = new Set(looks.map(({ function_request_id: id }) => id)).size;
  const each = invocations / Math.max(1, (Math.max(...times) - Math.min(...times)) / MINUTE_MS);
  bench.note('messages', each > 1.5, `${each.toFixed(1)} invocations a minute`);
}
