/**
 * Every setting of a configuration, from the schema and in its order. `defaults` and the top-level
 * `waiting` are missing: their values are in each pool.
 */
import type { DeployedPool, Deployment } from '../../../lambda/config/rules/deployment.ts';
import { DURATION_TITLE } from '../../../lambda/config/schema/durations.ts';
import { poolDeployment } from '../../../lambda/config/schema/pool-deployment-schema.ts';
import { SHARE_TITLE } from '../../../lambda/config/schema/schema.ts';
import { SECRET_REF_TITLE } from '../../../lambda/config/schema/secret-ref.ts';
import { rootSetting, type SettingNode, settingsBelow } from '../../../lambda/config/schema/settings.ts';
import { DOLLARS_TITLE } from '../../../lambda/config/schema/waiting-schema.ts';
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

/** What a replay does not judge: the deployment, how coderd is reached, and what is in a task. */
const NOT_REPLAYED: ReadonlySet<string> = new Set([
  ...['coder', 'roll', 'alertAfter', 'managedKeys', 'aws'],
  ...['key', 'psk', 'token', 'image', 'environment', 'secrets', ...Object.keys(poolDeployment)],
]);

/** A reference to a secret is one setting, and so are a list and a mapping of names. */
const ALL = settingsBelow(rootSetting()).filter(
  ({ path, node }) =>
    (node.properties === undefined || node.title === SECRET_REF_TITLE) &&
    !/^(?:defaults|waiting)\.|^pools(?:\[\]\.name)?$|\.(?:secret|jsonKey)$/.test(path) &&
    !/\[\]|<NAME>/.test(path.replace(/^pools\[\]/, '')),
);

export const TOP_SETTINGS = settingsOf<Deployment>(/^(?!pools\[\]\.)/, {});

export const POOL_SETTINGS = settingsOf<DeployedPool>(/^pools\[\]\./, {
  key: ({ auth }) => keyOf(auth),
  psk: ({ auth }) => (auth.kind === 'psk' ? auth.secret : undefined),
  token: ({ auth }) => (auth.kind === 'token' ? auth.secret : undefined),
});

/** `read`: settings that have no field of their own. */
function settingsOf<From>(
  prefix: RegExp,
  read: Readonly<Record<string, (from: From) => unknown>>,
): readonly Setting<From>[] {
  return ALL.filter(({ path }) => prefix.test(path)).map(({ path: whole, node }) => {
    const path = whole.replace(prefix, '');
    return {
      path,
      of: read[path] ?? ((from) => valueAt(from, `${path}${unitOf(node)}`)),
      show: showOf(path, node),
      isReplayed: !NOT_REPLAYED.has(path.replace(/\..*/, '')),
    };
  });
}

function hasTitle({ title, anyOf = [] }: SettingNode, wanted: string): boolean {
  return title === wanted || anyOf.some((each) => hasTitle(each, wanted));
}

/** The unit in the name of the field. */
function unitOf(node: SettingNode): string {
  if (hasTitle(node, DURATION_TITLE)) return 'Ms';
  return hasTitle(node, SHARE_TITLE) ? 'Percent' : '';
}

function valueAt(from: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], from);
}

function showOf(path: string, node: SettingNode): Show {
  if (isPrivate(node)) return hidden;
  if (hasTitle(node, DURATION_TITLE)) return durationOrAuto;
  if (hasTitle(node, SHARE_TITLE)) return percent;
  if (hasTitle(node, DOLLARS_TITLE)) return dollars;
  if (path === 'schedules') return schedules;
  if (node.additionalProperties) return tags;
  return node.type === 'array' ? list : plain;
}

function isPrivate({
  title,
  isPrivate: isMarked,
  anyOf = [],
  items,
  additionalProperties,
}: SettingNode): boolean {
  const below = [
    ...anyOf,
    ...(items ? [items] : []),
    ...(additionalProperties ? [additionalProperties] : []),
  ];
  return isMarked === true || title === SECRET_REF_TITLE || below.some(isPrivate);
}

function keyOf(auth: PoolAuth): unknown {
  if (auth.kind === 'key') return auth.secret;
  return auth.kind === 'managed' ? 'managed' : undefined;
}
