/** What `autoscaler setup` has seen: on this machine, in coderd and in AWS. The steps follow from it. */
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import type { Organization } from '../../lambda/look/ports.ts';

/** A side that a step needs. */
export type Side = 'coder' | 'aws';

/** `problem`: why the side cannot be used from here, and what to do. */
export type Seen<T> = { readonly value: T } | { readonly problem: string };

export type CoderSeen = {
  readonly url: string;
  readonly version: string;
  readonly user: string;
  /** Only an owner makes users, and tokens of others (docs/internals/coder.md §9). */
  readonly isOwner: boolean;
  readonly organizations: readonly Organization[];
  /** Of the users of the autoscaler, those that exist. */
  readonly users: ReadonlySet<string>;
  /** The roles of these users, by the organizations (their ids) that they are members of. */
  readonly roles: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  /** Builds on a working day. Undefined: the history is too short. */
  readonly buildsPerDay: number | undefined;
};

/** `empty`: without a value. `unknown`: the caller may not look. */
export type SecretState = 'stored' | 'empty' | 'missing' | 'deleted' | 'unknown';

export type Quota = { readonly vcpus: number; readonly requested?: number };

export type AwsSeen = {
  readonly region: string;
  readonly account: string;
  /** The ARN of the caller. */
  readonly caller: string;
  readonly secrets: ReadonlyMap<string, SecretState>;
  /** By quota code; missing: unknown. */
  readonly quotas: ReadonlyMap<string, Quota>;
  /** The version of CDK's bootstrap stack. `unknown`: the caller may not look. */
  readonly bootstrap: string | 'none' | 'unknown';
  /** The status of the stack. */
  readonly stack: string | 'none' | 'unknown';
};

/** `missing`: no file. */
export type ConfigSeen = Seen<Deployment> | 'missing';

export type Situation = {
  readonly file: string;
  readonly config: ConfigSeen;
  /** Whether the CDK app of the clone is in this folder. */
  readonly hasApp: boolean;
  /** Whether this is the clone without its CDK CLI, as `npm ci --omit=dev` leaves it. @default false */
  readonly lacksCdk?: boolean;
  /** As asked for; empty: all that coderd lists. */
  readonly named: readonly string[];
  readonly url: string | undefined;
  readonly coder: Seen<CoderSeen>;
  readonly aws: Seen<AwsSeen>;
  /** As stated, or as coderd's history shows. */
  readonly buildsPerDay: number | undefined;
};

export function valueIn<T>(seen: Seen<T> | 'missing'): T | undefined {
  return typeof seen === 'object' && 'value' in seen ? seen.value : undefined;
}
