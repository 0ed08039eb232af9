/** One provider of a lock file. */
import { LockFileError } from './lock-file-error.ts';

export type ProviderLock = {
  /** `<host>/<namespace>/<type>`. */
  readonly address: string;
  readonly version: string;
  /**
   * `h1:` covers the content of a package for one platform, `zh:` is the SHA-256 of its zip file. A
   * lock file does not say which hash belongs to which platform.
   */
  readonly hashes: readonly string[];
};

/** Parts of addresses and versions become names of files and folders, so nothing else is accepted. */
const ADDRESS = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?\/[a-z0-9][a-z0-9_-]*\/[a-z0-9][a-z0-9_-]*$/;
const NUMBER = '(?:0|[1-9]\\d*)';
const SUFFIXES = '(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?';
const VERSION = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}${SUFFIXES}$`);
/** By kind, which a lock file may name as it likes. */
const HASHES: ReadonlyMap<string, RegExp> = new Map([
  ['h1', /^h1:[A-Za-z0-9+/]{43}=$/],
  ['zh', /^zh:[0-9a-f]{64}$/],
]);
/** Of a kind that a newer Terraform may add. */
const OTHER_HASH = /^[!-~]+$/;
const LONGEST = 200;

/** `line`: where the block begins. Throws LockFileError. */
export function checkedLock({ address, version, hashes }: ProviderLock, line: number): ProviderLock {
  const refuse = (what: string): never => {
    throw new LockFileError(`line ${line}: ${what}`);
  };
  const name = JSON.stringify(address.slice(0, LONGEST));
  if (!ADDRESS.test(address) || address.length > LONGEST || address.includes('..'))
    refuse(`${name} is not an address of the form host/namespace/type`);
  if (!VERSION.test(version) || version.length > LONGEST)
    refuse(`provider ${name} has the version ${JSON.stringify(version.slice(0, LONGEST))}`);
  const flawed = hashes.find((hash) => !(HASHES.get(hash.split(':')[0] ?? '') ?? OTHER_HASH).test(hash));
  if (flawed !== undefined)
    refuse(`provider ${name} has the malformed checksum ${JSON.stringify(flawed.slice(0, LONGEST))}`);
  return { address, version, hashes };
}

/** How many checksums of each kind. Kinds that a newer Terraform may add are not counted. */
export function hashCounts({ hashes }: Pick<ProviderLock, 'hashes'>) {
  const count = (scheme: string): number => hashes.filter((hash) => hash.startsWith(scheme)).length;
  return { content: count('h1:'), zip: count('zh:') };
}
