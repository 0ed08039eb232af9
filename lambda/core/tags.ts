/** Kept for those who import it from here. */
export * from '../decision/model/tags.ts';
