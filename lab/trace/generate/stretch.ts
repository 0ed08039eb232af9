import type { EpochMs } from '../../../lambda/core/brands.ts';

/** Somebody works, from and to. */
export type Stretch = { readonly from: EpochMs; readonly to: EpochMs };
