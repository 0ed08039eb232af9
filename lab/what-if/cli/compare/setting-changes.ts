/** Lists the settings that differ between two configurations, with defaults filled in. */
import { isDeepStrictEqual } from 'node:util';
import { looksLikeSecret, shownDuration } from '../../../../lambda/config/problems/shown.ts';
import type { DeployedPool, Deployment } from '../../../../lambda/config/rules/deployment.ts';
import { isMapping, type Mapping } from '../../../../lambda/config/rules/drafts.ts';
import { KINDS, type Kind } from '../../../../lambda/config/schema/kinds.ts';
import { DAY_NAMES } from '../../../../lambda/config/schema/schedules.ts';
import {
  kindOf,
  rootSetting,
  type SettingNode,
  settingAt,
  valuesBelow,
} from '../../../../lambda/config/schema/settings.ts';
import type { PoolAuth, Schedule } from '../../../../lambda/decision/model/config.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { tagText } from '../../../../lambda/explain/format.ts';
import { namesOf, type PoolPair, pairPools } from '../../change/pool-pairs.ts';

export type SettingChange = {
  /** Such as `idleTimeout`; `environment.HTTPS_PROXY` for one entry of a mapping. */
  readonly setting: string;
  /** Names of the pools. Empty: a setting of the whole deployment. */
  readonly pools: readonly string[];
  /** Whether these are all pools, of two or more. */
  readonly isEveryPool: boolean;
  readonly before: string;
  readonly after: string;
  readonly isReplayed: boolean;
};

/** In the order of docs/settings.md, first those that a replay judges. Pools with equal changes share one. */
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

/** `value` is never undefined. */
type Show = (value: never) => string;

const UNSET = 'none';

const plain = (value: string | number | boolean): string => String(value);
export const durationOrAuto = (ms: number | 'auto'): string => (ms === 'auto' ? ms : shownDuration(ms));
export const percent = (value: number): string => `${value}%`;
const dollars = (value: number): string =>
  `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6, useGrouping: false })}`;
const tags = (value: Tags): string => tagText(value);
const list = (items: readonly (string | number)[]): string => (items.length === 0 ? UNSET : items.join(', '));

/** `mon,tue 08:30-18:30 Europe/Berlin: min 0, warm 5`, one for each schedule. */
const schedules = (all: readonly Schedule[]): string => list(all.map(scheduleText));

function scheduleText({ days, fromMinute, toMinute, timezone, min, warm, except }: Schedule): string {
  const on = days.length === DAY_NAMES.length ? 'every day' : days.map((day) => DAY_NAMES[day]).join(',');
  const not = except.length === 0 ? '' : `, not on ${except.join(' and ')}`;
  return `${on} ${timeOf(fromMinute)}-${timeOf(toMinute)} ${timezone}: min ${min}, warm ${warm}${not}`;
}

const timeOf = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');

/** The value is private: a text that is the same for all values. */
const hidden = (_value: unknown): string => '(not shown)';

/** Hides a text that looks like a secret: a tag may hold one by mistake. */
const safe = (text: string): string => (looksLikeSecret(text) ? '(not shown)' : text);

type Setting<From> = {
  /** Of a pool: without `pools[].`. */
  readonly path: string;
  /** Undefined: not set. */
  readonly of: (from: From) => unknown;
  readonly show: Show;
  /** Whether a replay shows what the setting does. */
  readonly isReplayed: boolean;
};

const OF_KIND: Readonly<Partial<Record<Kind, Show>>> = { duration: durationOrAuto, share: percent, dollars };

const root = rootSetting();

export const TOP_SETTINGS = settingsOf<Deployment>(root, ['defaults', 'waiting', 'pools'], {});

export const POOL_SETTINGS = settingsOf<DeployedPool>(settingAt(root, ['pools', 0]), ['name'], {
  key: ({ auth }) => keyOf(auth),
  psk: ({ auth }) => (auth.kind === 'psk' ? auth.secret : undefined),
  token: ({ auth }) => (auth.kind === 'token' ? auth.secret : undefined),
  'capacity.provider': ({ instances }) => instances?.provider,
  'capacity.dollarsPerHour': ({ instances }) => instances?.dollarsPerHour,
});

/** A list is one setting, and so is a mapping of names. `read`: settings without a field of their own. */
function settingsOf<From>(
  mapping: SettingNode | undefined,
  leftOut: readonly string[],
  read: Readonly<Record<string, (from: From) => unknown>>,
): readonly Setting<From>[] {
  const own = Object.entries(mapping?.properties ?? {}).filter(([name]) => !leftOut.includes(name));
  return own.flatMap(([name, top]) =>
    valuesBelow({ properties: { [name]: top } })
      .filter(({ path }) => !/\[\]|<NAME>/.test(path))
      .map(({ path, node }) => ({
        path,
        of: read[path] ?? ((from) => valueAt(from, fieldOf(path, node))),
        show: showOf(path, node),
        isReplayed: top.isReplayed !== false,
      })),
  );
}

function fieldOf(path: string, node: SettingNode): string {
  const kind = kindOf(node);
  return kind === undefined ? path : `${path}${KINDS[kind].unit}`;
}

function valueAt(from: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], from);
}

function showOf(path: string, node: SettingNode): Show {
  if (isPrivate(node)) return hidden;
  const kind = kindOf(node);
  const show = kind && OF_KIND[kind];
  if (show !== undefined) return show;
  if (path === 'schedules') return schedules;
  if (node.additionalProperties) return tags;
  return path === 'capacity' || node.type === 'array' ? list : plain;
}

function isPrivate({ isPrivate: isMarked, anyOf = [], items, additionalProperties }: SettingNode): boolean {
  const below = [...anyOf, items, additionalProperties].filter((node) => typeof node === 'object');
  return isMarked === true || below.some(isPrivate);
}

function keyOf(auth: PoolAuth): unknown {
  if (auth.kind === 'key') return auth.secret;
  return auth.kind === 'managed' ? 'managed' : undefined;
}
