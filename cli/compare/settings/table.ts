/**
 * Every setting of a configuration, from the schema and in its order. `defaults` and the top-level
 * `waiting` are missing: their values are in each pool.
 */
import type { DeployedPool, Deployment } from '../../../lambda/config/rules/deployment.ts';
import { KINDS, type Kind } from '../../../lambda/config/schema/kinds.ts';
import {
  kindOf,
  rootSetting,
  type SettingNode,
  settingAt,
  valuesBelow,
} from '../../../lambda/config/schema/settings.ts';
import type { PoolAuth } from '../../../lambda/decision/model/config.ts';
import {
  dollars,
  durationOrAuto,
  hidden,
  list,
  percent,
  plain,
  type Show,
  schedules,
  tags,
} from './values.ts';

export type Setting<From> = {
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
  return node.type === 'array' ? list : plain;
}

function isPrivate({ isPrivate: isMarked, anyOf = [], items, additionalProperties }: SettingNode): boolean {
  const below = [...anyOf, items, additionalProperties].filter((node) => typeof node === 'object');
  return isMarked === true || below.some(isPrivate);
}

function keyOf(auth: PoolAuth): unknown {
  if (auth.kind === 'key') return auth.secret;
  return auth.kind === 'managed' ? 'managed' : undefined;
}
