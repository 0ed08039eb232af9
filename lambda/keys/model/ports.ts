/** The interfaces that the key function needs. All methods throw KeysError. */
import type { Secret } from '../../adapters/shared/secret.ts';
import type { EpochMs, OrganizationId } from '../../decision/model/brands.ts';
import type { Tags } from '../../decision/model/tags.ts';
import type { ManagedPool, OwnDeployment } from './pool.ts';

export type Organization = { readonly id: OrganizationId; readonly name: string };

/** A provisioner key without its secret. */
export type KeyFacts = {
  readonly id: string;
  readonly name: string;
  readonly organization: OrganizationId;
  readonly tags: Tags;
  readonly createdAt: EpochMs;
};

/** What the token's user may do to provisioner keys and daemons of an organization. */
export type Rights = { readonly read: boolean; readonly create: boolean; readonly delete: boolean };

export type SeenDaemon = {
  readonly name: string;
  readonly keyId: string;
  readonly lastSeenAt: EpochMs;
};

/** A list that coderd gave in full, with coderd's time. */
export type Listed<T> = { readonly items: readonly T[]; readonly now: EpochMs };

export interface ProvisionerKeys {
  organizations(): Promise<readonly Organization[]>;
  rights(organizations: readonly OrganizationId[]): Promise<ReadonlyMap<OrganizationId, Rights>>;
  /** What coderd says to the key itself. Undefined: coderd knows no such key. */
  inspect(key: Secret): Promise<KeyFacts | undefined>;
  /** An empty list is verified: it does not stand for a missing right. */
  list(organization: Organization): Promise<Listed<KeyFacts>>;
  /** All daemons that coderd still lists, offline ones too. */
  daemons(organization: Organization): Promise<Listed<SeenDaemon>>;
  create(
    organization: Organization,
    key: { readonly name: string; readonly tags: Tags },
  ): Promise<Secret | 'name-taken'>;
  /** A key that does not exist is no error: only `list` tells that a key is gone. */
  delete(organization: Organization, name: string): Promise<void>;
}

export type VersionInfo = { readonly id: string; readonly stages: readonly string[] };

/** A secret without its values. */
export type SecretInfo = {
  readonly id: string;
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Those with a label. */
  readonly versions: readonly VersionInfo[];
  /** The last change of any kind: no switch of the key was later. */
  readonly changedAt: EpochMs;
};

export interface KeySecrets {
  describe(id: string): Promise<SecretInfo>;
  /** Undefined: the version has no value. */
  value(id: string, version: string): Promise<Secret | undefined>;
  /** `token` becomes the id of the version. `exists`: it has another value, and keeps it. */
  put(
    id: string,
    version: { readonly token: string; readonly value: Secret; readonly stage: string },
  ): Promise<'stored' | 'exists'>;
  move(
    id: string,
    label: { readonly stage: string; readonly to: string; readonly from?: string | undefined },
  ): Promise<void>;
  tag(id: string, tags: Readonly<Record<string, string>>): Promise<void>;
  ofStack(stack: string): Promise<readonly SecretInfo[]>;
}

export type PoolTask = { readonly id: string; readonly createdAt: EpochMs };

export interface PoolTasks {
  /** By pool, the tasks that have not stopped. A pool without a service is missing. */
  running(): Promise<ReadonlyMap<string, readonly PoolTask[]>>;
}

export interface KeyClock {
  /** AWS's time. */
  now(): EpochMs;
  sleep(ms: number): Promise<void>;
}

export interface KeyRandom {
  /** 8 characters `[a-z0-9]`. */
  suffix(): string;
  token(): string;
}

export interface KeyLog {
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
}

export type KeyPorts = {
  readonly keys: ProvisionerKeys;
  readonly secrets: KeySecrets;
  readonly tasks: PoolTasks;
  readonly clock: KeyClock;
  readonly random: KeyRandom;
  readonly log: KeyLog;
  readonly deployment: OwnDeployment;
};

/** A pool, its secret as it was read, and the ports to work on them. */
export type PoolSecret = {
  readonly ports: KeyPorts;
  readonly pool: ManagedPool;
  readonly secret: SecretInfo;
};
