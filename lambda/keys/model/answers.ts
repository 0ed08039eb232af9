/** What the key function returns. No answer contains a key. */

/** To CloudFormation, through CDK's Provider framework. */
export type ResourceAnswer = {
  readonly PhysicalResourceId: string;
  /** Absent after a deletion. */
  readonly Data?: { readonly KeyId: string; readonly KeyName: string };
};

/** Why a key is kept, or that it is deleted. */
export type KeyVerdict =
  | 'current'
  | 'pending'
  /** The next sweep deletes it. */
  | 'unused'
  | 'deleted'
  | 'in-use-by-a-task'
  | 'in-use-by-a-daemon'
  | 'too-young'
  | 'in-doubt'
  | 'foreign';

export type KeyReport = {
  readonly id: string;
  readonly name: string;
  readonly organization: string;
  readonly createdAt: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Names of the daemons with this key that coderd still lists; absent: not read. */
  readonly daemons?: readonly string[] | undefined;
  /** The pool for which this deployment made it; undefined for a foreign key. */
  readonly pool?: string | undefined;
  readonly verdict: KeyVerdict;
};

export type PoolReport = {
  readonly pool: string;
  /** Whether tasks that start now get a key that coderd accepts, with the pool's tags. */
  readonly works: 'yes' | 'no' | 'unknown';
  readonly keyId?: string | undefined;
  readonly keyName?: string | undefined;
  /** What is wrong and what to do, in sentences. */
  readonly problems: readonly string[];
};

/** The answer to `{"sweep":true}` and `{"check":true}`. */
export type KeysAnswer = {
  readonly pools: readonly PoolReport[];
  readonly keys: readonly KeyReport[];
  /** What concerns no single pool: the licence, the role, a list that coderd did not give. */
  readonly problems: readonly string[];
};
