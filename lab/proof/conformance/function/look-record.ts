/** Counts reasons, findings and failures in the function's log. */
import * as z from 'zod';
import { parseQuietly } from '../../../../lambda/decision/model/parse-quietly.ts';

const lookSchema = z.object({
  message: z.literal('look'),
  pools: z.array(z.object({ name: z.string(), why: z.array(z.object({ code: z.string() })) })),
  findings: z.array(z.string()),
  failures: z.array(z.string()),
});

export type LookRecord = {
  readonly looks: number;
  /** For each pool, the number of looks with each reason. */
  readonly reasons: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Number of looks with each finding; likewise for failures. */
  readonly findings: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  /** Warnings, and lines that are not log events of the function. */
  readonly otherLines: readonly string[];
};

export function recordOf(lines: readonly string[]): LookRecord {
  const events = lines
    .filter((line) => line.trim() !== '')
    .map((line) => ({ line, look: lookSchema.safeParse(parseQuietly(line)).data }));
  const looks = events.flatMap(({ look }) => (look === undefined ? [] : [look]));
  const pools = looks.flatMap((look) => look.pools);
  const byPool = Map.groupBy(pools, ({ name }) => name);
  return {
    looks: looks.length,
    reasons: Object.fromEntries(
      [...byPool].map(([name, rows]) => [
        name,
        count(rows.flatMap(({ why }) => why.map(({ code }) => code))),
      ]),
    ),
    findings: count(looks.flatMap(({ findings }) => findings)),
    failures: count(looks.flatMap(({ failures }) => failures)),
    otherLines: events.flatMap(({ line, look }) => (look === undefined ? [line] : [])),
  };
}

function count(words: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]));
}
