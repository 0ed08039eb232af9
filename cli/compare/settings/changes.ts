/** Lists the settings that differ between two configurations, with defaults filled in. */
import { isDeepStrictEqual } from 'node:util';
import { namesOf, type PoolPair, pairPools } from '../../../backtest/change/pool-pairs.ts';
import type { DeployedPool, Deployment } from '../../../lambda/config/rules/deployment.ts';
import { isMapping, type Mapping } from '../../../lambda/config/rules/drafts.ts';
import { hidden, POOL_SETTINGS, type Setting, safe, TOP_SETTINGS, tags, UNSET } from './table.ts';

export type SettingChange = {
  /** Such as `idleTimeout`; `environment.HTTPS_PROXY` for one entry of a mapping. */
  readonly setting: string;
  /** Names of the pools. Empty: a setting of the whole deployment. */
  readonly pools: readonly string[];
  /** Whether these are all pools, of two or more. */
  readonly isEveryPool: boolean;
  readonly before: string;
  readonly after: string;
  /** Whether a replay shows what the setting does. */
  readonly isReplayed: boolean;
};

/**
 * In the order of docs/settings.md, first those that a replay judges. Pools with equal changes share
 * one.
 */
export function settingChanges(before: Deployment, after: Deployment): readonly SettingChange[] {
  const pairs = pairPools(before.pools, after.pools);
  const kept = pairs.flatMap(({ before, after }) => (before && after ? [{ before, after }] : []));
  const ofPools = POOL_SETTINGS.flatMap((setting) => poolChanges(setting, kept));
  const all = [
    ...pairs.flatMap(existence),
    ...TOP_SETTINGS.flatMap((setting) => changesOf(setting, before, after).map(ofDeployment)),
    ...ofPools,
  ];
  return [...all.filter(({ isReplayed }) => isReplayed), ...all.filter(({ isReplayed }) => !isReplayed)];
}

type Values = Pick<SettingChange, 'setting' | 'before' | 'after' | 'isReplayed'>;

const ofDeployment = (values: Values): SettingChange => ({ ...values, pools: [], isEveryPool: false });

/** An added, removed or renamed pool. */
function existence(pair: PoolPair): readonly SettingChange[] {
  const { before, after } = pair;
  if (before?.name === after?.name) return [];
  const pools = namesOf(pair).slice(-1);
  const isBoth = before !== undefined && after !== undefined;
  const show = (pool: DeployedPool | undefined): string =>
    pool === undefined ? UNSET : isBoth ? pool.name : summaryOf(pool);
  const values = { setting: 'name', before: show(before), after: show(after), isReplayed: true };
  return [{ ...values, pools, isEveryPool: false }];
}

const summaryOf = (pool: DeployedPool): string =>
  safe(`organization ${pool.organization}, tags ${tags(pool.tags)}, min ${pool.min}, max ${pool.max}`);

type Kept = { readonly before: DeployedPool; readonly after: DeployedPool };

function poolChanges(setting: Setting<DeployedPool>, kept: readonly Kept[]): readonly SettingChange[] {
  const all = kept.flatMap(({ before, after }) =>
    changesOf(setting, before, after).map((values) => ({ ...values, pool: after.name })),
  );
  const groups = Map.groupBy(all, (each) => JSON.stringify([each.setting, each.before, each.after]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { pool: _pool, ...values } = first;
    const isEveryPool = kept.length > 1 && group.length === kept.length;
    return [{ ...values, pools: group.map(({ pool }) => pool), isEveryPool }];
  });
}

/** One change, or one for each entry of a private mapping such as `environment`. */
function changesOf<From>(setting: Setting<From>, before: From, after: From): readonly Values[] {
  const [from, to] = [setting.of(before), setting.of(after)].map(unsetIfEmpty);
  if (isDeepStrictEqual(from, to)) return [];
  if (setting.show !== hidden || !isMapping(from) || !isMapping(to) || isReference(from, to))
    return [valuesOf(setting, setting.path, from, to)];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return names
    .filter((name) => !isDeepStrictEqual(from[name], to[name]))
    .map((name) => valuesOf(setting, `${setting.path}.${safe(name)}`, from[name], to[name]));
}

/** An empty list is as good as none. */
const unsetIfEmpty = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 0 ? undefined : value;

/** References to secrets: their fields are no settings of their own. */
const isReference = (...values: readonly Mapping[]): boolean =>
  values.some(({ secret }) => typeof secret === 'string');

function valuesOf<From>(
  { show, isReplayed }: Setting<From>,
  path: string,
  from: unknown,
  to: unknown,
): Values {
  if (show === hidden) return { setting: path, isReplayed, ...hiddenValues(from, to) };
  const text = (value: unknown): string => (value === undefined ? UNSET : safe(show(value as never)));
  return { setting: path, before: text(from), after: text(to), isReplayed };
}

/** Says only whether there is a value. */
function hiddenValues(from: unknown, to: unknown) {
  const text = (value: unknown, isSecond: boolean): string => {
    if (value === undefined) return UNSET;
    return isSecond && from !== undefined ? 'another value' : 'set';
  };
  return { before: text(from, false), after: text(to, true) };
}
