/**
 * Every setting of a configuration, from the schema and in its order, and how its values are shown.
 * `defaults` and the top-level `waiting` are missing: their values are in each pool. What may be a secret is
 * never shown.
 */

import { looksLikeSecret, shownDuration } from '../../../lambda/config/problems/shown.ts';
import type { DeployedPool, Deployment } from '../../../lambda/config/rules/deployment.ts';
import { KINDS, type Kind } from '../../../lambda/config/schema/kinds.ts';
import { DAY_NAMES } from '../../../lambda/config/schema/schedules.ts';
import {
  kindOf,
  rootSetting,
  type SettingNode,
  settingAt,
  valuesBelow,
} from '../../../lambda/config/schema/settings.ts';
import type { PoolAuth, Schedule } from '../../../lambda/decision/model/config.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { tagText } from '../../../lambda/explain/format.ts';

/** `value` is never undefined. */
type Show = (value: never) => string;

/** The text of a value that is not set. */
export const UNSET = 'none';

export const plain = (value: string | number | boolean): string => String(value);
export const durationOrAuto = (ms: number | 'auto'): string => (ms === 'auto' ? ms : shownDuration(ms));
export const percent = (value: number): string => `${value}%`;
export const dollars = (value: number): string =>
  `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6, useGrouping: false })}`;
export const tags = (value: Tags): string => tagText(value);
export const list = (items: readonly (string | number)[]): string =>
  items.length === 0 ? UNSET : items.join(', ');

/** `mon,tue 08:30-18:30 Europe/Berlin: min 0, warm 5`, one for each schedule. */
export const schedules = (all: readonly Schedule[]): string => list(all.map(scheduleText));

function scheduleText({ days, fromMinute, toMinute, timezone, min, warm, except }: Schedule): string {
  const on = days.length === DAY_NAMES.length ? 'every day' : days.map((day) => DAY_NAMES[day]).join(',');
  const not = except.length === 0 ? '' : `, not on ${except.join(' and ')}`;
  return `${on} ${timeOf(fromMinute)}-${timeOf(toMinute)} ${timezone}: min ${min}, warm ${warm}${not}`;
}

const timeOf = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');

/** The value is private: a text that is the same for all values. */
export const hidden = (_value: unknown): string => '(not shown)';

/** Hides a text that looks like a secret: a tag may hold one by mistake. */
export const safe = (text: string): string => (looksLikeSecret(text) ? '(not shown)' : text);

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
