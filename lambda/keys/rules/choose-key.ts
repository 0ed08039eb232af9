/** Decides which key a pool's tasks shall get, from what its secret holds and what coderd says of it. */
import { areEqual, normalizeTags } from '../../decision/model/tags.ts';
import type { Wanted } from '../model/pool.ts';
import type { KeyFacts } from '../model/ports.ts';

/** `nothing`: no value. `garbage`: a value without a key. `refused`: a key that coderd does not know. */
export type Held =
  | { readonly kind: 'nothing' | 'garbage' | 'refused' }
  | { readonly kind: 'known'; readonly facts: KeyFacts };

export type Flaw = 'nothing' | 'garbage' | 'refused' | 'other-organization' | 'other-tags';

export type KeyChoice =
  | { readonly do: 'keep' | 'take-back'; readonly facts: KeyFacts }
  | { readonly do: 'make'; readonly because: Flaw };

/** Why tasks with this version could not serve the pool; undefined if they can. */
export function flawOf(held: Held, wanted: Wanted): Flaw | undefined {
  if (held.kind !== 'known') return held.kind;
  const { organization, tags } = held.facts;
  if (organization !== wanted.organization) return 'other-organization';
  return areEqual(normalizeTags(tags), normalizeTags(wanted.tags)) ? undefined : 'other-tags';
}

/**
 * The previous key comes back only if the current one was made for other tags or another organization, as after
 * a rollback. One that coderd refuses was deleted by a person, perhaps because it leaked.
 */
export function chooseKey(current: Held, previous: Held, wanted: Wanted): KeyChoice {
  const flaw = flawOf(current, wanted);
  if (flaw === undefined && current.kind === 'known') return { do: 'keep', facts: current.facts };
  const isRollback = flaw === 'other-tags' || flaw === 'other-organization';
  if (isRollback && previous.kind === 'known' && flawOf(previous, wanted) === undefined)
    return { do: 'take-back', facts: previous.facts };
  return { do: 'make', because: flaw ?? 'nothing' };
}
