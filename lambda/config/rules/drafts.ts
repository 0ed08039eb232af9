import type { z } from 'zod';
import type { Path } from '../problems/shown.ts';
import { configSchema, poolSchema } from '../schema/schema.ts';

/**
 * The settings that are valid by themselves. Invalid ones are missing, so one mistake does not hide
 * the next.
 */
type Draft<S extends z.ZodRawShape> = { readonly [Name in keyof S]?: z.output<S[Name]> };
export type Mapping = Readonly<Record<string, unknown>>;

export type PoolDraft = Draft<typeof poolSchema.shape> & {
  readonly index: number;
  /** As written; empty if the entry is no mapping. */
  readonly raw: Mapping;
  readonly isMapping: boolean;
};

export type ConfigDraft = Omit<Draft<typeof configSchema.shape>, 'pools' | 'defaults'> & {
  readonly defaults: DefaultsDraft;
  readonly pools: readonly PoolDraft[];
  /** As written. */
  readonly raw: Mapping;
};
type DefaultsDraft = Draft<ReturnType<typeof defaultsShape>> & { readonly raw: Mapping };

/** Derives a draft from a parsed configuration, with all settings that are valid by themselves. */
export function draftConfig(value: unknown): ConfigDraft {
  const raw = toMapping(value);
  const pools = Array.isArray(raw.pools) ? raw.pools : [];
  return {
    ...draft(configSchema.shape, raw),
    defaults: draftDefaults(raw.defaults),
    pools: pools.map(draftPool),
    raw,
  };
}

function draftPool(value: unknown, index: number): PoolDraft {
  const raw = toMapping(value);
  return { ...draft(poolSchema.shape, raw), index, raw, isMapping: raw === value };
}

function draftDefaults(value: unknown): DefaultsDraft {
  const raw = toMapping(value);
  return { ...draft(defaultsShape(), raw), raw };
}

const defaultsShape = () => configSchema.shape.defaults.unwrap().shape;

function draft<S extends z.ZodRawShape>(shape: S, raw: Mapping): Draft<S> {
  const read = Object.entries(shape).map(([name, schema]) => [
    name,
    (schema as z.ZodType).safeParse(raw[name]).data,
  ]);
  return Object.fromEntries(read) as Draft<S>;
}

/** The path of a setting of the pool. */
export const at = (pool: PoolDraft, ...names: readonly (string | number)[]): Path => [
  'pools',
  pool.index,
  ...names,
];

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is a mapping, else an empty one. */
export const toMapping = (value: unknown): Mapping => (isMapping(value) ? value : {});
