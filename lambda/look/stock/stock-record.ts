/** What a new process of the function needs, so that it does not have to learn again. */
import type { OrganizationId } from '../../decision/model/brands.ts';
import type { StockChoice } from '../../decision/model/snapshot.ts';
import type { TagSet } from '../../decision/model/tags.ts';
import type { ReplayedBuild } from '../../decision/stock/replay.ts';

export type StockRecord = {
  readonly organizations: readonly OrganizationRecord[];
  readonly choices: readonly StockChoice[];
};

export type OrganizationRecord = {
  readonly id: OrganizationId;
  /** The builds up to this time are in the record, in milliseconds by coderd's clock. */
  readonly upTo: number;
  /** The builds of each tag set, the oldest first. */
  readonly logs: readonly { readonly tags: TagSet; readonly builds: readonly ReplayedBuild[] }[];
};

/** Keeps one record. Both throw if the store does not answer within about two seconds. */
export interface RecordStore {
  /** Undefined: the store has no record that can be used. */
  read(): Promise<StockRecord | undefined>;
  write(record: StockRecord): Promise<void>;
}
