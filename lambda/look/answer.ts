/** The answer of a dry run. */
import type { Plan } from '../decision/model/plan.ts';
import { planText } from '../explain/text.ts';
import { cutLists } from '../explain/truncate-rows.ts';

export type Answer = Plan & {
  /** The plan as a person reads it. */
  readonly text: string;
  /** Rows that had no room, by list. */
  readonly leftOut: Readonly<Record<string, number>>;
};

const MIB = 1024 * 1024;
/** Lambda answers 6 MB at the most, and fails what is longer as a whole. */
const MAX_BYTES = {
  pools: 0.75 * MIB,
  actions: 0.75 * MIB,
  assignment: 0.75 * MIB,
  unserved: 0.75 * MIB,
  forecast: 0.5 * MIB,
  findings: 0.5 * MIB,
  text: 1 * MIB,
} as const;

/**
 * The plan with its text, cut to what Lambda can answer; the text's last line says what was cut.
 */
export function answerOf(plan: Plan): Answer {
  const { version, takenAt, lookAgainAfterMs, ...lists } = plan;
  const { kept, leftOut } = cutLists({ ...lists, text: planText(plan).split('\n') }, MAX_BYTES);
  const { text, ...rows } = kept;
  return {
    ...{ version, takenAt, lookAgainAfterMs },
    ...rows,
    text: [...text, ...cutText(leftOut)].join('\n'),
    leftOut,
  };
}

function cutText(leftOut: Answer['leftOut']): readonly string[] {
  const lists = Object.entries(leftOut).map(([list, rows]) => `${rows} rows of ${list}`);
  if (lists.length === 0) return [];
  return [`left out, since Lambda answers 6 MB at the most: ${lists.join(', ')}; autoscaler plan tells all`];
}
