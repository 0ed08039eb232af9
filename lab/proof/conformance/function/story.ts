/** Bursts of builds of different lengths from zero, so pools scale in while some run; stops; autostarts. */
import { randomUUID } from 'node:crypto';
import { stringify } from 'yaml';
import * as z from 'zod';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../lambda/decision/model/units.ts';
import { ConformanceError } from '../stage/question.ts';
import type { Stage, StageOutcome } from '../stage/stage.ts';

export const POOLS = [
  { name: 'untagged', tags: {}, max: 3 },
  { name: 'linux', tags: { pool: 'linux' }, max: 4 },
  { name: 'gpu', tags: { pool: 'gpu' }, max: 2 },
  { name: 'sleeping', tags: { pool: 'sleeping' }, max: 3 },
] as const satisfies readonly { readonly name: string; readonly tags: Tags; readonly max: number }[];
type PoolName = (typeof POOLS)[number]['name'];

type Step = {
  readonly atS: number;
  readonly pool: PoolName;
  readonly buildS: readonly number[];
};

const STEPS: readonly Step[] = [
  { atS: 5, pool: 'linux', buildS: [10, 15, 20, 30, 120, 150] },
  { atS: 15, pool: 'untagged', buildS: [20, 30, 40, 90] },
  { atS: 25, pool: 'gpu', buildS: [40, 60] },
  { atS: 160, pool: 'linux', buildS: [20, 30] },
];
/** When workspaces of the first burst whose build has ended are stopped. */
const STOPS_AT_S = 200;
const STOP_MS = 5_000;
const AUTOSTARTS = 3;
const AUTOSTART_BUILD_S = 8;
/** Longer than the 90 s for which coderd counts the daemons of the preparation as present. */
const AUTOSTART_AFTER_MS = 170_000;

const time = z.string().transform((text) => Date.parse(text));
const jobSchema = z.object({
  id: z.string(),
  type: z.string().optional(),
  status: z.string(),
  error: z.string().nullish(),
  created_at: time,
  started_at: time.nullish(),
  completed_at: time.nullish(),
  worker_name: z.string().nullish(),
});
const workspaceSchema = z.object({
  name: z.string(),
  latest_build: z.object({ reason: z.string(), created_at: time, job: jobSchema }),
});

export type RealJob = z.output<typeof jobSchema>;
export type RealWorkspace = z.output<typeof workspaceSchema>;

/** Part of every name: a coderd may be used for several runs, and names must be unique. */
const RUN = randomUUID().slice(0, 8);
const templateOf = (pool: PoolName, buildS: number): string => `${pool}-${buildS}-${RUN}`;

/** Names of workspaces that are stopped and start by schedule at `dueAt`. */
export type Prepared = { readonly sleepers: readonly string[]; readonly dueAt: Date };

/** Imports a template for each length of builds, and builds the sleepers, with daemons that end before the run. */
export async function prepare(stage: Stage): Promise<Prepared> {
  const helpers = POOLS.map(({ name, tags }) => ({ name: `preparing-${name}-${RUN}`, tags }));
  for (const { name, tags } of helpers) await stage.startDaemon(name, tags);
  const lengths = [...STEPS, { pool: 'sleeping' as const, buildS: [AUTOSTART_BUILD_S] }];
  const templates = lengths.flatMap(({ pool, buildS }) => buildS.map((seconds) => ({ pool, seconds })));
  const distinct = new Map(templates.map((each) => [templateOf(each.pool, each.seconds), each]));
  for (const [name, { pool, seconds }] of distinct) {
    const { tags = {} } = POOLS.find((each) => each.name === pool) ?? {};
    const script = { start: { ms: seconds * SECOND_MS }, stop: { ms: STOP_MS } };
    must(await stage.importVersion({ name: `${name}-1`, tags, script }));
    await settle(stage, `import of ${name}-1`);
    must(await stage.addTemplate({ name, version: `${name}-1` }));
  }
  const sleepers = Array.from({ length: AUTOSTARTS }, (_, index) => `s${index}-${RUN}`);
  for (const name of sleepers) {
    must(await create(stage, name, templateOf('sleeping', AUTOSTART_BUILD_S)));
    await settle(stage, `job 1 of ${name}`);
    must(await stage.build(name, 'stop'));
    await settle(stage, `job 2 of ${name}`);
  }
  for (const { name } of helpers) await stage.stopDaemon(name, 'terminate');
  const dueAt = new Date(Math.ceil((stage.now() + AUTOSTART_AFTER_MS) / MINUTE_MS) * MINUTE_MS);
  const schedule = `CRON_TZ=UTC ${dueAt.getUTCMinutes()} ${dueAt.getUTCHours()} * * *`;
  for (const name of sleepers) must(await stage.setSchedule(name, schedule));
  return { sleepers, dueAt };
}

/** Requests the builds of all steps, each at its time from now on. Returns how many. */
export async function play(stage: Stage, announce: (line: string) => void): Promise<number> {
  const startedAt = stage.now();
  const at = (seconds: number) => stage.pass(Math.max(0, startedAt + seconds * SECOND_MS - stage.now()));
  const made: string[] = [];
  for (const { atS, pool, buildS } of STEPS) {
    await at(atS);
    announce(
      `creating ${buildS.length} workspaces of pool ${pool}; their builds take ${buildS.join(', ')} s`,
    );
    for (const seconds of buildS) {
      const name = `w${made.length}-${RUN}`;
      must(await create(stage, name, templateOf(pool, seconds)));
      made.push(name);
    }
  }
  await at(STOPS_AT_S);
  const firsts = made.slice(0, STEPS[0]?.buildS.length);
  const built: string[] = [];
  for (const name of firsts)
    if ((await statusOf(stage, `job 1 of ${name}`)) === 'succeeded') built.push(name);
  announce(`stopping ${built.length} workspaces of pool linux`);
  for (const name of built) must(await stage.build(name, 'stop'));
  return made.length + built.length;
}

/** All jobs of the organization that were created since `from`. */
export async function jobsSince(stage: Stage, from: number): Promise<readonly RealJob[]> {
  const { body } = await stage.ask({ path: JOBS, query: { limit: '0' } });
  return z
    .array(jobSchema)
    .parse(body)
    .filter(({ created_at }) => created_at >= from);
}

export async function workspaceOf(stage: Stage, name: string): Promise<RealWorkspace> {
  return workspaceSchema.parse((await stage.ask({ path: `/workspaces/{${name}}` })).body);
}

/** The token of a new user with the role that docs/deploy.md asks for. */
export async function makeFunctionToken(stage: Stage): Promise<string> {
  const name = `autoscaler-${RUN}`;
  await stage.addUser({ name, role: 'organization-template-admin', status: 'active' });
  return stage.tokenOf(name) ?? '';
}

const POLL_MS = 500;
const MOST_POLLS = 240;
const JOBS = '/organizations/{organization}/provisionerjobs';

const create = (stage: Stage, name: string, template: string): Promise<StageOutcome> =>
  stage.addWorkspace({ name, template, owner: 'first' });

async function statusOf(stage: Stage, job: string): Promise<string> {
  return jobSchema.parse((await stage.ask({ path: `${JOBS}/{${job}}` })).body).status;
}

async function settle(stage: Stage, job: string): Promise<void> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const status = await statusOf(stage, job);
    if (status === 'succeeded') return;
    if (status !== 'pending' && status !== 'running')
      throw new ConformanceError(`waiting for the ${job}: it is ${status}`);
    await stage.pass(POLL_MS);
  }
  throw new ConformanceError(
    `waiting for the ${job}: it has not ended in ${(MOST_POLLS * POLL_MS) / 1000} s`,
  );
}

function must(outcome: StageOutcome): void {
  if (outcome !== 'done')
    throw new ConformanceError(`preparing the run: coderd answered ${outcome.status}: ${outcome.message}`);
}

export type Deployed = { readonly url: string; readonly organization: string; readonly version: string };

/** The configuration as a user writes it. Looks, latencies and intervals have the product's defaults. */
export function configOf({ url, organization, version }: Deployed): string {
  return stringify({
    coder: { url, token: { secret: 'coder/autoscaler-token' } },
    limits: { maxTasks: 12 },
    defaults: { image: `ghcr.io/coder/coder:${version}` },
    pools: POOLS.map(({ name, tags, max }) => {
      const key = { secret: `coder/keys/${name}` };
      // as in the demo: with a stock the pool would keep daemons after a burst, and the run must end at zero
      return { name, organization, tags, key, max, warm: 0 };
    }),
  });
}
