/**
 * `npm run demo`: the bundled Lambda function on its schedule, with undici and the AWS SDK clients, against a coderd
 * and an ECS on loopback. One second here is ten seconds of the world's time. Ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { EpochMs } from '../../lambda/core/brands.ts';
import { Random } from '../random.ts';
import { serveWorld } from '../serve.ts';
import { World } from '../world.ts';
import { deployFunction } from './deployed-function.ts';
import { demoConfig, LAST_SUBMISSION_MS, POOLS, planSubmissions } from './scenario.ts';
import { isAsPromised, isOver, summarize } from './summary.ts';
import { createView } from './view.ts';

/** World time for each real time. */
const SPEED = 10;
/** The schedule: once a minute of the world's time. */
const SCHEDULE_MS = 60_000 / SPEED;
const DRAW_MS = 250;
const GIVE_UP_MS = 85_000;
const START = Date.parse('2026-03-02T09:00:00Z');

const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('it must be a whole number');
  return Number(text);
};

const { json, seed } = new Command('demo')
  .description('run the autoscaler against an embedded coderd and ECS')
  .option('--json', 'end with one JSON object on the last line', false)
  .option('--seed <number>', 'another seed gives another day', wholeNumber, 1)
  .parse()
  .opts<{ json: boolean; seed: number }>();

const startedAt = performance.now();
const tookMs = (): number => performance.now() - startedAt;
const clock = (): EpochMs => (START + tookMs() * SPEED) as EpochMs;

const world = new World({
  start: START as EpochMs,
  seed,
  pools: POOLS,
  latencies: { boot: [8_000, 20_000], stop: [2_000, 6_000] },
  readLagMs: 2_000,
});
const served = await serveWorld(world, { clock });
const view = createView(world, json ? process.stderr : process.stdout);
planSubmissions(world, new Random(seed), view.say);
const autoscaler = await deployFunction(demoConfig(served.coderdUrl), {
  AUTOSCALER_CLUSTER: world.ecs.clusterName,
  AWS_ENDPOINT_URL_ECS: served.awsUrl,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: served.awsUrl,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'demo',
  AWS_SECRET_ACCESS_KEY: 'demo',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
});

let failures = 0;
let invocation: Promise<void> | undefined;

/** EventBridge invokes once a minute of the world; this one waits until the last invocation has ended. */
function invokeOnSchedule(): void {
  invocation ??= autoscaler
    .tick()
    .then(() => {})
    .catch((error: unknown) => {
      failures += 1;
      view.say(`the invocation failed: ${error instanceof Error ? error.message : String(error)}`);
    })
    .finally(() => {
      invocation = undefined;
    });
}

let nextInvocationMs = 0;
while (tookMs() < GIVE_UP_MS) {
  world.timeline.advanceTo(clock());
  if (tookMs() >= nextInvocationMs) {
    invokeOnSchedule();
    nextInvocationMs = tookMs() + SCHEDULE_MS;
  }
  view.draw();
  if (world.timeline.now() - START > LAST_SUBMISSION_MS && isOver(world)) break;
  await sleep(DRAW_MS);
}
await invocation;

const summary = summarize(world);
view.end(summary, tookMs());
await served.close();
if (json) process.stdout.write(`${JSON.stringify(summary)}\n`);
process.exitCode = isAsPromised(world) && failures === 0 ? 0 : 1;
