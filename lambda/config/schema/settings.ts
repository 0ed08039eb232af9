import * as z from 'zod';
import { ownValue } from '../../decision/model/collections.ts';
import type { Path } from '../problems/shown.ts';
import { KINDS, type Kind } from './kinds.ts';
import { configSchema } from './schema.ts';

/**
 * One setting in the JSON Schema, with the keywords that this schema uses. All that the product knows
 * about a setting is here: messages, docs and comparisons derive from it.
 */
export type SettingNode = {
  /** The kind of the value, if it has one. */
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SettingNode[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, SettingNode>>;
  readonly required?: readonly string[];
  readonly items?: SettingNode;
  readonly additionalProperties?: SettingNode | false;
  /** The default, as text: it follows another setting. Not in the JSON Schema. */
  readonly follows?: string;
  /** Whether the value is never shown. Not in the JSON Schema. */
  readonly isPrivate?: boolean;
  /** Whether a replay shows what the setting does. Not in the JSON Schema. @default true */
  readonly isReplayed?: boolean;
  /** Accepted, and not in docs/settings.md. */
  readonly deprecated?: boolean;
};

export type Setting = {
  /** Such as `pools[].secrets.<NAME>.jsonKey`. */
  readonly path: string;
  readonly node: SettingNode;
  readonly isRequired: boolean;
};

/** The JSON Schema of autoscaler.yaml. YAML plugins of editors support all of draft 7. */
export function configJsonSchema(): object {
  return toSettings(['follows', 'isPrivate', 'isReplayed']);
}

/** The JSON Schema of autoscaler.yaml, as settings. */
export function rootSetting(): SettingNode {
  return toSettings();
}

function toSettings(leftOut: readonly (keyof SettingNode)[] = []): SettingNode {
  return z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema }) => {
      // zod leaves out the examples of values that it transforms
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (Array.isArray(examples)) jsonSchema.examples = examples;
      for (const name of leftOut) delete (jsonSchema as Record<string, unknown>)[name];
      // the bounds of safe integers help no reader
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  }) as SettingNode;
}

/** The setting at a path of a configuration; undefined if there is none. */
export function settingAt(root: SettingNode, path: Path): SettingNode | undefined {
  return path.reduce<SettingNode | undefined>((node, step) => node && childOf(node, step), root);
}

/** Every setting at and below a node, in the order of the schema. */
export function settingsBelow(node: SettingNode, path = ''): Setting[] {
  if (node.items) return settingsBelow(node.items, `${path}[]`);
  const mapping = node.anyOf?.find(({ properties }) => properties !== undefined);
  if (mapping) return settingsBelow(mapping, path);
  if (node.additionalProperties) return settingsBelow(node.additionalProperties, `${path}.<NAME>`);
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const below = path === '' ? name : `${path}.${name}`;
    const isRequired = node.required?.includes(name) ?? false;
    return [{ path: below, node: child, isRequired }, ...settingsBelow(child, below)];
  });
}

/**
 * The settings with a value of their own: no mappings of other settings. A reference to a secret is
 * one setting.
 */
export function valuesBelow(mapping: SettingNode): Setting[] {
  return settingsBelow(mapping).filter(({ path, node }) => {
    const isGroup = node.properties !== undefined && kindOf(node) !== 'secret reference';
    return !isGroup && !/\.(?:secret|jsonKey)$/.test(path);
  });
}

/** The kind of a value; of alternatives, the kind of the first that has one. */
export function kindOf(node: SettingNode | undefined): Kind | undefined {
  const { title, anyOf = [] } = node ?? {};
  if (title !== undefined && Object.hasOwn(KINDS, title)) return title as Kind;
  return anyOf.map(kindOf).find((kind) => kind !== undefined);
}

function childOf(node: SettingNode, step: string | number): SettingNode | undefined {
  if (typeof step === 'number') return node.items;
  const own = ownValue(node.properties ?? {}, step);
  if (own !== undefined) return own;
  const below = node.anyOf?.map((alternative) => childOf(alternative, step));
  return below?.find((child) => child !== undefined) ?? (node.additionalProperties || undefined);
}
