/** Bursts of builds of different lengths from zero, so pools scale in while some run; stops; autostarts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import type { ControlPort } from '../stage/control-port.ts';
import type { CoderdApi, RealWorkspace } from './coderd-api.ts';

export const POOLS = [
  { name: 'untagged', tags: {}, max: 3 },
  { name: 'linux', tags: { pool: 'linux' }, max: 4 },
  { name: 'gpu', tags: { pool: 'gpu' }, max: 2 },
  { name: 'sleeping', tags: { pool: 'sleeping' }, max: 3 },
] as const satisfies readonly { readonly name: string; readonly tags: Tags; readonly max: number }[];
export type PoolName = (typeof POOLS)[number]['name'];

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
const AUTOSTART_BUILD_MS = 8_000;
/** Longer than the 90 s for which coderd counts the daemons of the preparation as present. */
const AUTOSTART_AFTER_MS = 170_000;

/** Templates by pool, and stopped workspaces that start by schedule at `dueAt`. */
export type Prepared = {
  readonly templates: Readonly<Record<PoolName, string>>;
  readonly sleepers: readonly RealWorkspace[];
  readonly dueAt: Date;
};

export type Played = { readonly builds: number };

/** Imports templates and builds the sleepers, with a daemon for each pool, which ends before the run. */
export async function prepare(coderd: CoderdApi, control: ControlPort): Promise<Prepared> {
  const nameOf = (pool: string): string => `preparing-${pool}-${Date.now()}`;
  const helpers = POOLS.map(({ name, tags }) => ({ name: nameOf(name), tags }));
  await Promise.all(helpers.map(({ name, tags }) => control.start(name, tags)));
  const entries = await Promise.all(
    POOLS.map(async ({ name, tags }) => [name, await coderd.pushTemplate(name, tags)] as const),
  );
  const templates = Object.fromEntries(entries) as Record<PoolName, string>;
  const sleepers: RealWorkspace[] = [];
  for (let index = 0; index < AUTOSTARTS; index++) {
    const workspace = await coderd.createWorkspace(templates.sleeping, 500);
    await coderd.settle(workspace);
    await coderd.stopWorkspace(workspace, AUTOSTART_BUILD_MS);
    await coderd.settle(workspace);
    sleepers.push(workspace);
  }
  await Promise.all(helpers.map(({ name }) => control.signal(name, 'terminate')));
  const dueAt = new Date(Math.ceil((Date.now() + AUTOSTART_AFTER_MS) / MINUTE_MS) * MINUTE_MS);
  for (const workspace of sleepers) await coderd.setAutostart(workspace, dueAt);
  return { templates, sleepers, dueAt };
}

/** Requests the builds of all steps, each at its time from now on. */
export async function play(
  coderd: CoderdApi,
  { templates }: Prepared,
  announce: (line: string) => void,
): Promise<Played> {
  const startedAt = Date.now();
  const at = (seconds: number) => sleep(Math.max(0, startedAt + seconds * 1000 - Date.now()));
  const made: RealWorkspace[] = [];
  for (const { atS, pool, buildS } of STEPS) {
    await at(atS);
    announce(
      `creating ${buildS.length} workspaces of pool ${pool}; their builds take ${buildS.join(', ')} s`,
    );
    for (const seconds of buildS) made.push(await coderd.createWorkspace(templates[pool], seconds * 1000));
  }
  await at(STOPS_AT_S);
  const firsts = await Promise.all(made.slice(0, STEPS[0]?.buildS.length).map((it) => coderd.workspace(it)));
  const built = firsts.filter(({ latest_build }) => latest_build.job.status === 'succeeded');
  announce(`stopping ${built.length} workspaces of pool linux`);
  for (const workspace of built) await coderd.stopWorkspace(workspace, STOP_MS);
  return { builds: made.length + built.length };
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
