import type { EpochMs } from '../../../lambda/decision/model/brands.ts';

/** A time in which a person works without a break. */
export type WorkInterval = { readonly from: EpochMs; readonly to: EpochMs };
