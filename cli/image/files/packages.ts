/** Derives the packages of an image from the lock files of templates. */
import { by, compare, unique } from '../../../lambda/decision/model/collections.ts';
import type { ProviderLock } from '../lock/provider-lock.ts';
import type { Template } from '../templates/template.ts';

/** A provider in one version. Templates may lock several versions of a provider: all are packed. */
export type Package = {
  readonly address: string;
  readonly version: string;
  /** All templates that lock it, by name. */
  readonly templates: readonly string[];
  /** The different sets of checksums. The package has to match each of them. */
  readonly locks: readonly PackageLock[];
};

export type PackageLock = { readonly templates: readonly string[]; readonly hashes: readonly string[] };

type Locked = { readonly template: string; readonly lock: ProviderLock };

/** The most used first: those are the last ones to change. */
export function packagesOf(templates: readonly Template[]): readonly Package[] {
  const locked = templates.flatMap(({ name, locks }) =>
    locks.kind === 'locked' ? locks.providers.map((lock) => ({ template: name, lock })) : [],
  );
  const groups = [...Map.groupBy(locked, ({ lock }) => `${lock.address} ${lock.version}`).values()];
  return groups
    .flatMap((group) => group.slice(0, 1).map(({ lock }) => packageOf(lock, group)))
    .sort(
      by(
        (each) => -each.templates.length,
        (each) => each.address,
        (each) => each.version,
      ),
    );
}

function packageOf({ address, version }: ProviderLock, group: readonly Locked[]): Package {
  const sets = Map.groupBy(group, ({ lock }) => sorted(lock.hashes).join(' '));
  const locks = [...sets].map(([hashes, those]) => ({
    templates: sorted(those.map(({ template }) => template)),
    hashes: hashes.split(' ').filter((hash) => hash !== ''),
  }));
  return {
    address,
    version,
    templates: sorted(group.map(({ template }) => template)),
    locks: locks.sort(by(({ templates }) => templates.join(' '))),
  };
}

const sorted = (texts: readonly string[]): readonly string[] =>
  [...unique(texts, (text) => text)].sort(compare);
