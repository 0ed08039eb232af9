/**
 * Derives a pool name from each organization and tag set: `default`, `gpu-eu`, `data-gpu`. A pool
 * name has at most 30 lower-case letters, digits and hyphens.
 */
import type { Tags } from '../../lambda/decision/model/tags.ts';

export type TagSetOf = { readonly organization: string; readonly tags: Tags };

const LONGEST = 30;
/**
 * coderd refuses keys with these names (docs/internals/coder.md §3), and the key gets the pool's
 * name.
 */
const REFUSED_BY_CODERD = ['built-in', 'user-auth', 'psk'];
/** Values that say less than the name of their tag. */
const YES = ['', 'true', 'yes', 'on'];

/** The names in the order of the tag sets, each different. */
export function poolNames(tagSets: readonly TagSetOf[]): readonly string[] {
  const hasSeveral = new Set(tagSets.map(({ organization }) => organization)).size > 1;
  const taken = new Set(REFUSED_BY_CODERD);
  return tagSets.map((tagSet) => {
    const name = freeName(candidatesFor(tagSet, hasSeveral), taken);
    taken.add(name);
    return name;
  });
}

/** The shortest name first. */
function candidatesFor({ organization, tags }: TagSetOf, hasSeveral: boolean): readonly string[] {
  const entries = Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1));
  const prefix = hasSeveral || entries.length === 0 ? [organization] : [];
  const short = entries.map(([name, value]) => wordOf(name, value));
  const long = entries.map(([name, value]) => `${name}-${value}`);
  return [short, long].map((words) => fold([...prefix, ...words].join('-')) || 'pool');
}

function wordOf(name: string, value: string): string {
  if (YES.includes(value.toLowerCase())) return name;
  return /[a-z]/.test(fold(value)) && value.toLowerCase() !== 'false' ? value : `${name}-${value}`;
}

/** Lower case without accents; every other character becomes a hyphen. */
function fold(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '');
}

function freeName(candidates: readonly string[], taken: ReadonlySet<string>): string {
  const free = candidates.map((name) => cut(name, LONGEST)).find((name) => !taken.has(name));
  if (free !== undefined) return free;
  const [first = 'pool'] = candidates;
  for (let number = 2; ; number++) {
    const name = `${cut(first, LONGEST - `-${number}`.length)}-${number}`;
    if (!taken.has(name)) return name;
  }
}

const cut = (name: string, length: number): string => name.slice(0, length).replace(/-+$/, '');
