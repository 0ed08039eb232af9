/** Builds the answer of a dry run from a plan, within Lambda's limit of 6 MB. */
import type { PromisedPlan } from '../decision/model/promise.ts';
import { planText } from '../explain/text.ts';
import { cutLists } from '../explain/truncate-rows.ts';

export type Answer = PromisedPlan & {
  /** The plan as text for people. */
  readonly text: string;
  /** How many rows were left out, by list. */
  readonly leftOut: Readonly<Record<string, number>>;
};

const MIB = 1024 * 1024;
/** Lambda answers at most 6 MB and rejects a longer answer as a whole. */
const MAX_BYTES = {
  pools: 0.75 * MIB,
  actions: 0.75 * MIB,
  assignment: 0.75 * MIB,
  unserved: 0.75 * MIB,
  forecast: 0.5 * MIB,
  findings: 0.5 * MIB,
  pendingJobs: 0.5 * MIB,
  text: 1 * MIB,
} as const;

/** The plan with its text, truncated to Lambda's limit. The last line of the text says what is missing. */
export function answerOf(plan: PromisedPlan): Answer {
  const { version, takenAt, lookAgainAfterMs, pendingJobsLeftOut, ...lists } = plan;
  const { kept, leftOut } = cutLists({ ...lists, text: planText(plan).split('\n') }, MAX_BYTES);
  const { text, ...rows } = kept;
  return {
    ...{ version, takenAt, lookAgainAfterMs, pendingJobsLeftOut },
    ...rows,
    text: [...text, ...cutText(leftOut)].join('\n'),
    leftOut,
  };
}

function cutText(leftOut: Answer['leftOut']): readonly string[] {
  const lists = Object.entries(leftOut).map(([list, rows]) => `${rows} rows of ${list}`);
  if (lists.length === 0) return [];
  return [
    `left out because Lambda answers at most 6 MB: ${lists.join(', ')}. Run autoscaler plan to see all rows`,
  ];
}
