/**
 * Overrides: temporary changes by a person, parsed from the tags of the pool's ECS service. Each
 * field has its own tag (docs/adr/0016):
 *
 *   coder-autoscaler:pause   all | scale-in
 *   coder-autoscaler:pin     tasks
 *   coder-autoscaler:floor   tasks
 *
 * Each has `-until` (RFC 3339, the end), `-by` and `-why`: `coder-autoscaler:pin-until`.
 */
import type { EpochMs } from '../model/brands.ts';
import { by, ownValue } from '../model/collections.ts';
import type { MalformedOverride, Override, OverrideKind } from '../model/plan.ts';
import { FLOOR_TAG, isStrayTag, keysOfOverride, PAUSE_TAG, PIN_TAG } from '../model/service-tags.ts';
import type { Service } from '../model/snapshot.ts';

export type Overrides = {
  readonly active: readonly Override[];
  /** Tags of overrides whose value or end cannot be parsed. */
  readonly malformed: readonly MalformedOverride[];
};

/** Derives the overrides from the tags of a service. Expired ones are ignored. */
export function deriveOverrides({ tags }: Pick<Service, 'tags'>, now: EpochMs): Overrides {
  const values = new Map(tags.map(({ key, value }) => [key, value]));
  const parsed = [PAUSE_TAG, PIN_TAG, FLOOR_TAG].map((key) => parseOverride(key, values, now));
  const strays = tags
    .filter(({ key }) => isStrayTag(key))
    .map(({ key, value }): MalformedOverride => ({ tag: key, seen: value, problem: 'unknown-tag' }))
    .toSorted(by(({ tag }) => tag));
  return {
    active: parsed.flatMap((found) => (found !== undefined && 'kind' in found ? [found] : [])),
    malformed: [
      ...parsed.flatMap((found) => (found !== undefined && 'tag' in found ? [found] : [])),
      ...strays,
    ],
  };
}

/** The tags that store an override. */
export function tagsOfOverride({ kind, count, until, by, why }: Override): Readonly<Record<string, string>> {
  const key = KEYS[kind];
  const value = kind === 'pause' ? 'all' : kind === 'pause-scale-in' ? 'scale-in' : `${count ?? 0}`;
  return { [key]: value, [`${key}-until`]: until, [`${key}-by`]: by, [`${key}-why`]: why };
}

/** The keys to remove for this kind. The two kinds of pause share theirs. */
export function tagKeysOf(kind: OverrideKind): readonly string[] {
  return keysOfOverride(KEYS[kind]);
}

/** Why a text cannot be the value of a tag (ECS API Reference, Tag), if so. */
export function overrideTextProblem(text: string): string | undefined {
  const { length } = [...text];
  if (length > MAX_CHARACTERS) return `it has ${length} characters; a tag holds ${MAX_CHARACTERS}`;
  const [invalid] = /[^\p{L}\p{N} +\-=._:/@]/u.exec(text) ?? [];
  if (invalid === undefined) return undefined;
  return `a tag can not hold ${JSON.stringify(invalid)}, only letters, digits, spaces and + - = . _ : / @`;
}

const MAX_CHARACTERS = 256;

const KEYS: Readonly<Record<OverrideKind, string>> = {
  pause: PAUSE_TAG,
  'pause-scale-in': PAUSE_TAG,
  pin: PIN_TAG,
  floor: FLOOR_TAG,
};

function parseOverride(
  key: string,
  values: ReadonlyMap<string, string>,
  now: EpochMs,
): Override | MalformedOverride | undefined {
  const value = values.get(key)?.trim();
  if (value === undefined) return undefined;
  const written = values.get(`${key}-until`)?.trim() ?? '';
  const until = RFC_3339.test(written) ? Date.parse(written.toUpperCase()) : Number.NaN;
  if (until <= now) return undefined;
  const setting = parseValue(key, value);
  if (setting === undefined) return { tag: key, seen: value, problem: 'unknown-value' };
  if (Number.isNaN(until))
    return { tag: `${key}-until`, seen: written, problem: written === '' ? 'no-end' : 'unreadable-end' };
  return {
    ...setting,
    until: new Date(until).toISOString(),
    by: values.get(`${key}-by`)?.trim() || 'somebody',
    why: values.get(`${key}-why`)?.trim() || 'no reason given',
  };
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function parseValue(key: string, value: string): Pick<Override, 'kind' | 'count'> | undefined {
  if (key !== PAUSE_TAG)
    return /^\d{1,4}$/.test(value)
      ? { kind: key === PIN_TAG ? 'pin' : 'floor', count: Number(value) }
      : undefined;
  return ownValue(PAUSES, value);
}

const PAUSES: Readonly<Record<string, Pick<Override, 'kind'>>> = {
  all: { kind: 'pause' },
  'scale-in': { kind: 'pause-scale-in' },
};
