import type { Clients } from '../../../lambda/connect.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';

/** Who reads a pool's credential in production. */
export const READER = "the tasks' execution role";

/** What the checks of credentials need. */
export type CredentialContext = Pick<Clients, 'coderd' | 'secrets'> & {
  /** Undefined if coderd could not be read. */
  readonly coder: Promise<Snapshot['coder'] | undefined>;
  /** The services of the cluster. */
  readonly services: Snapshot['ecs']['services'];
  /** Coderd's clock. */
  readonly now: EpochMs;
  /** Ends all requests. */
  readonly until: AbortSignal;
  /** The failed check without which no credential can be tried. */
  readonly blocker: string | undefined;
  /** The failed check without which coderd cannot be read with the autoscaler's own token. */
  readonly readBlocker: string | undefined;
  /** The failed check without which no secret can be read. */
  readonly secretsBlocker: string | undefined;
};

export const nameOfKey = ({ name }: PoolConfig): string => `pool "${name}": key`;
