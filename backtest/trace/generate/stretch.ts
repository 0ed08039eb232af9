import type { EpochMs } from '../../../lambda/decision/model/brands.ts';

/** Somebody works, from and to. */
export type Stretch = { readonly from: EpochMs; readonly to: EpochMs };
