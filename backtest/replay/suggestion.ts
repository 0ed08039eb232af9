/** Suggested settings: the settings, and the runs that they come from. */
import type { Figures, SweepPoint } from './run-result.ts';

export type SuggestedPool = {
  readonly name: string;
  readonly max: number;
  /**
   * The peak of the desired count. 0: the pool ran no job of the trace, and `max` stays as
   * configured.
   */
  readonly used: number;
};

export type SuggestedSettings = {
  /** Dollars for each minute of a person. */
  readonly price: number;
  readonly pools: readonly SuggestedPool[];
  readonly maxTasks: number;
  readonly maxTasksUsed: number;
  /** Undefined: the trace has no start times. */
  readonly startTimeMs: number | undefined;
};

/** One run of the autoscaler, with its dollars over the whole trace. */
export type Trial = SweepPoint & { readonly dollars: Figures['dollars'] };

export type Suggestion = {
  readonly settings: SuggestedSettings;
  /** The settings as a part of autoscaler.yaml. */
  readonly yaml: string;
  /** Runs at several prices, lowest first. All other settings are as configured. */
  readonly trials: readonly Trial[];
  /** The run with all suggested settings. */
  readonly after: Trial;
  /** The total of the present configuration minus the total of `after`. */
  readonly savedDollars: number;
  /** Whether the saving is larger than chance: otherwise keep the present settings. */
  readonly isWorthIt: boolean;
};
