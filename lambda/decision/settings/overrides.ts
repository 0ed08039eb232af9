/**
 * Overrides: what a person has changed for a time, as tags on the pool's ECS service, one field a tag (docs/adr/0016).
 *
 *   coder-autoscaler:pause   all | scale-in
 *   coder-autoscaler:pin     tasks
 *   coder-autoscaler:floor   tasks
 *
 * each with `-until` (RFC 3339; when it ends), `-by` and `-why`: `coder-autoscaler:pin-until`.
 */
import type { EpochMs } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import type { MalformedOverride, Override, OverrideKind } from '../model/plan.ts';
import { FLOOR_TAG, isStrayTag, OVERRIDE_FIELDS, PAUSE_TAG, PIN_TAG } from '../model/service-tags.ts';
import type { Service } from '../model/snapshot.ts';

export type Overrides = {
  readonly active: readonly Override[];
  /** Somebody wanted something, and it can't be told what or until when. */
  readonly malformed: readonly MalformedOverride[];
};

/** Reads the tags of a service; what has expired is as if absent. */
export function deriveOverrides({ tags }: Pick<Service, 'tags'>, now: EpochMs): Overrides {
  const values = new Map(tags.map(({ key, value }) => [key, value]));
  const read = [PAUSE_TAG, PIN_TAG, FLOOR_TAG].map((key) => readOverride(key, values, now));
  const strays = tags
    .filter(({ key }) => isStrayTag(key))
    .map(({ key, value }): MalformedOverride => ({ tag: key, seen: value, problem: 'unknown-tag' }))
    .toSorted(by(({ tag }) => tag));
  return {
    active: read.flatMap((found) => (found !== undefined && 'kind' in found ? [found] : [])),
    malformed: [
      ...read.flatMap((found) => (found !== undefined && 'tag' in found ? [found] : [])),
      ...strays,
    ],
  };
}

/** The tags that write an override down. */
export function tagsOfOverride({ kind, count, until, by, why }: Override): Readonly<Record<string, string>> {
  const key = keyOf(kind);
  const value = kind === 'pause' ? 'all' : kind === 'pause-scale-in' ? 'scale-in' : `${count ?? 0}`;
  return { [key]: value, [`${key}-until`]: until, [`${key}-by`]: by, [`${key}-why`]: why };
}

/** The tags to remove, so that no override of a kind is left; the two pauses share theirs. */
export function tagKeysOf(kind: OverrideKind): readonly string[] {
  const key = keyOf(kind);
  return [key, ...OVERRIDE_FIELDS.map((field) => `${key}-${field}`)];
}

/** What is wrong with a text that is to be the value of a tag, if anything (ECS API Reference, Tag). */
export function overrideTextProblem(text: string): string | undefined {
  const { length } = [...text];
  if (length > MOST_CHARACTERS) return `it has ${length} characters; a tag holds ${MOST_CHARACTERS}`;
  const [strange] = /[^\p{L}\p{N} +\-=._:/@]/u.exec(text) ?? [];
  if (strange === undefined) return undefined;
  return `a tag can not hold ${JSON.stringify(strange)}, only letters, digits, spaces and + - = . _ : / @`;
}

const MOST_CHARACTERS = 256;

function keyOf(kind: OverrideKind): string {
  switch (kind) {
    case 'pause':
    case 'pause-scale-in':
      return PAUSE_TAG;
    case 'pin':
      return PIN_TAG;
    case 'floor':
      return FLOOR_TAG;
    default:
      return kind satisfies never;
  }
}

function readOverride(
  key: string,
  values: ReadonlyMap<string, string>,
  now: EpochMs,
): Override | MalformedOverride | undefined {
  const value = values.get(key)?.trim();
  if (value === undefined) return undefined;
  const written = values.get(`${key}-until`)?.trim() ?? '';
  const until = RFC_3339.test(written) ? Date.parse(written.toUpperCase()) : Number.NaN;
  if (until <= now) return undefined;
  const wanted = wantedBy(key, value);
  if (wanted === undefined) return { tag: key, seen: value, problem: 'unknown-value' };
  if (Number.isNaN(until))
    return { tag: `${key}-until`, seen: written, problem: written === '' ? 'no-end' : 'unreadable-end' };
  return {
    ...wanted,
    until: new Date(until).toISOString(),
    by: values.get(`${key}-by`)?.trim() || 'somebody',
    why: values.get(`${key}-why`)?.trim() || 'no reason given',
  };
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function wantedBy(key: string, value: string): Pick<Override, 'kind' | 'count'> | undefined {
  if (key !== PAUSE_TAG)
    return /^\d{1,4}$/.test(value)
      ? { kind: key === PIN_TAG ? 'pin' : 'floor', count: Number(value) }
      : undefined;
  return PAUSES[value];
}

const PAUSES: Readonly<Record<string, Pick<Override, 'kind'>>> = {
  all: { kind: 'pause' },
  'scale-in': { kind: 'pause-scale-in' },
};
