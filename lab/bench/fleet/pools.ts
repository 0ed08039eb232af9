/** Generates the configuration: pools with overlapping tags in a few organizations. */
import { type Tags, tagKey } from '../../../lambda/decision/model/tags.ts';
import type { Random } from '../../world/base/random.ts';

export type FleetPool = {
  readonly name: string;
  readonly organization: string;
  readonly tags: Tags;
  readonly settings: Readonly<Record<string, unknown>>;
};

export type FleetConfig = Record<string, unknown> & { readonly pools: readonly unknown[] };

const ORGANIZATIONS = ['default', 'platform', 'data', 'ml', 'edge'];

const organizationNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => ORGANIZATIONS[index] ?? `team-${index}`);

/** Tag, number of its values, and the probability that a pool has it. */
const TAGS: readonly (readonly [name: string, values: number, likely: number])[] = [
  ['cluster', 4, 0.8],
  ['region', 3, 0.6],
  ['environment', 3, 0.5],
  ['size', 2, 0.4],
  ['team', 6, 0.3],
];

const SIZES = [
  { cpu: 1024, memory: 2048 },
  { cpu: 2048, memory: 8192 },
  { cpu: 4096, memory: 16_384 },
];

/** The first pool of each organization is untagged. Pools of one organization have different tags. */
export function makePools(size: FleetSize, random: Random): readonly FleetPool[] {
  const taken = new Set<string>();
  const organizations = organizationNames(size.organizations ?? ORGANIZATIONS.length);
  return Array.from({ length: size.pools }, (_, index) => {
    const organization = organizations[index % organizations.length] ?? 'default';
    const name = `${organization}-${String(index).padStart(3, '0')}`;
    const tags = index < organizations.length ? {} : newTags(organization, taken, random);
    const settings = makeSettings(size, random);
    return { name, organization, tags, settings };
  });
}

/** Without daemons all pools are at zero. With workspaces each may start its share of them. */
function makeSettings({ pools, daemons, workspaces }: FleetSize, random: Random) {
  const off = { autostart: false, autostop: false };
  return {
    min: daemons === 0 ? 0 : 1,
    max: Math.ceil((daemons / pools) * random.between(1, 3)) + 2 + Math.ceil(workspaces / pools / 5),
    warm: daemons === 0 ? 0 : random.whole(0, 2),
    ...(workspaces === 0 ? { wake: off } : {}),
    architecture: random.pick(['arm64', 'x86_64']),
    ...random.pick(SIZES),
  };
}

/** `maxTasks`: half as many tasks again, one more per pool, and one for each workspace about to start. */
export function configOf(
  pools: readonly FleetPool[],
  { daemons, workspaces }: FleetSize,
  coderdUrl: string,
): FleetConfig {
  return {
    coder: { url: coderdUrl, token: { secret: 'coder/autoscaler-token' } },
    limits: { maxTasks: Math.ceil(daemons * 1.5 + workspaces / 5) + pools.length },
    // longer than an invocation, so that one invocation is one look
    looks: { every: '60s' },
    pools: pools.map(({ name, organization, tags, settings }) => ({
      name,
      organization,
      tags,
      key: { secret: `coder/keys/${name}` },
      ...settings,
    })),
  };
}

function newTags(organization: string, taken: Set<string>, random: Random): Tags {
  for (;;) {
    const tags = makeTags(random);
    const key = `${organization} ${tagKey(tags)}`;
    if (!taken.has(key)) {
      taken.add(key);
      return tags;
    }
  }
}

function makeTags(random: Random): Tags {
  const chosen = TAGS.filter(([, , likely]) => random.next() < likely);
  const some = chosen.length > 0 ? chosen : TAGS.slice(0, 1);
  return Object.fromEntries(some.map(([name, values]) => [name, `${name}-${random.whole(1, values)}`]));
}

export type TagGroup = { readonly organization: string; readonly tags: Tags };

/** Tag sets for so many jobs or workspaces: parts of the tags of pools, so several pools often fit. */
export function makeGroups(
  pools: readonly FleetPool[],
  forMany: number,
  random: Random,
): readonly TagGroup[] {
  const groups = new Map<string, TagGroup>();
  // 30 for 100 jobs, 300 for 10,000
  const wanted = Math.round(3 * Math.sqrt(forMany));
  for (let tries = 0; tries < wanted * 50 && groups.size < wanted; tries++) {
    const { organization, tags: all } = random.pick(pools) ?? { organization: '', tags: {} };
    const tags = Object.fromEntries(Object.entries(all).filter(() => random.next() < 0.5));
    groups.set(`${organization} ${tagKey(tags)}`, { organization, tags });
  }
  return [...groups.values(), { organization: 'default', tags: { cluster: 'nobody-has-this' } }];
}

/** Picks an item, the first ones more often. Power 1: uniform. Power 2: half from the first quarter. */
export function pickSkewed<T>(items: readonly T[], power: number, random: Random): T | undefined {
  return items[Math.floor(items.length * random.next() ** power)];
}

/** The size of a generated deployment. The same size and seed give the same deployment. */
export type FleetSize = {
  /** Pending jobs of all organizations together. */
  readonly jobs: number;
  readonly pools: number;
  /** @default 5 */
  readonly organizations?: number;
  /** Daemons that coderd lists. Starting tasks are additional. */
  readonly daemons: number;
  /** 0: no pool wakes for autostarts or autostops, so the autoscaler reads no forecast. */
  readonly workspaces: number;
  readonly seed: number;
};

/** Three pools at night: the situation of most invocations. */
export const QUIET = { jobs: 0, pools: 3, daemons: 3, workspaces: 300 } as const;
/** Busy: a fifth of the workspaces are about to start. */
export const BUSY = { jobs: 100, pools: 20, daemons: 200, workspaces: 10_000 } as const;
/** The largest measured deployment, to which the goals apply. One deployment cannot have more pools. */
export const LARGEST = { jobs: 10_000, pools: 50, daemons: 1_000, workspaces: 10_000 } as const;
/** The same with four times as many pools as one deployment may have. */
export const WIDEST = { ...LARGEST, pools: 200 } as const;
/** From a deployment of today to one beyond what one function reaches. */
export const REACH = [
  { organizations: 5, pools: 20, daemons: 200, jobs: 500, workspaces: 5_000 },
  { organizations: 20, pools: 50, daemons: 400, jobs: 2_000, workspaces: 20_000 },
  { organizations: 50, pools: 50, daemons: 1_000, jobs: 10_000, workspaces: 50_000 },
  { organizations: 50, pools: 50, daemons: 2_000, jobs: 20_000, workspaces: 100_000 },
] as const;
