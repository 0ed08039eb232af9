/** Reads the log event of a look (lambda/look/look-event.ts): the changes it made, with reasons. */
import * as z from 'zod';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import type { Reason } from '../../lambda/decision/model/plan.ts';
import { some } from '../../lambda/explain/format.ts';
import { reasonIn, reasonSentence } from '../../lambda/explain/reason-text.ts';

/** `in`: the desired count falls. `drain`: idle daemons are asked to leave. */
export type ChangeKind = 'out' | 'in' | 'drain';

export type LoggedChange = {
  readonly pool: string;
  readonly kind: ChangeKind;
  /** `2 -> 5`, `drains 2 tasks`, or both. */
  readonly what: string;
  /** All reasons of the pool. */
  readonly why: string;
  /** The change with its own reason only: `2 -> 5: 3 pending jobs need a new task`. */
  readonly short: string;
  /** The other reasons of the pool. */
  readonly others: readonly string[];
};

const poolSchema = z.object({
  name: z.string(),
  why: z.array(z.custom<Reason>()),
  unguarded: z.number().optional(),
});

const lookSchema = z.object({
  message: z.literal('look'),
  pools: z.array(poolSchema),
  actions: z.array(
    z.object({
      pool: z.string(),
      kind: z.string(),
      why: z.string().optional(),
      from: z.number().optional(),
      to: z.number().optional(),
      outcome: z.string(),
    }),
  ),
});
type Look = z.infer<typeof lookSchema>;
type Row = z.infer<typeof poolSchema>;

/** The changes of a look, at most one for each pool. Empty for any other line of the log. */
export function changesIn(line: string): readonly LoggedChange[] {
  const look = parse(line);
  if (look === undefined) return [];
  const applied = look.actions.filter(({ outcome }) => outcome === 'applied');
  return look.pools.flatMap((row) => {
    const { name, why } = row;
    const own = applied.filter(({ pool }) => pool === name);
    const told = describe(own);
    if (told === undefined) return [];
    const others = why.filter(({ code }) => !own.some((action) => action.why === code)).map(wordsIn(row));
    return [{ pool: name, ...told, why: why.map(wordsIn(row)).join('; '), short: shortOf(own, row), others }];
  });
}

/** Lines of earlier versions lack the count. */
const wordsIn = ({ unguarded }: Row): ((reason: Reason) => string) =>
  unguarded === undefined ? reasonSentence : reasonIn({ unguarded });

/** Names the reasons of the actions, without what other reasons a pool has. A sentence that says what drains says it alone. */
function shortOf(own: Look['actions'], row: Row): string {
  const sentencesOf = (code: string | undefined): readonly string[] =>
    row.why.filter((reason) => reason.code === code).map(wordsIn(row));
  const counts = own.filter(({ kind }) => kind === 'set-desired');
  const codes = new Set(own.filter(isDrain).map(({ why }) => why));
  const drains = [...codes].flatMap(sentencesOf);
  return [
    ...counts.map(({ why, ...count }) => [countText(count), ...sentencesOf(why)].join(': ')),
    ...(drains.length > 0 ? drains : drainTexts(own)),
  ].join('; ');
}

/** Undefined for other lines, and for a piece of a line. */
function parse(line: string): Look | undefined {
  return lookSchema.safeParse(parseQuietly(line)).data;
}

function describe(own: Look['actions']): Pick<LoggedChange, 'kind' | 'what'> | undefined {
  const count = own.find(({ kind }) => kind === 'set-desired');
  const drains = drainTexts(own);
  if (count === undefined) return drains.length === 0 ? undefined : { kind: 'drain', what: drains.join() };
  const { from = 0, to = 0 } = count;
  return { kind: to > from ? 'out' : 'in', what: [countText(count), ...drains].join(', ') };
}

const isDrain = ({ kind }: Look['actions'][number]): boolean => kind === 'ask-to-leave';

function drainTexts(own: Look['actions']): readonly string[] {
  const drained = own.filter(isDrain).length;
  return drained === 0 ? [] : [`drains ${some(drained, 'task')}`];
}

const countText = ({
  from = 0,
  to = 0,
}: {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}) => `${from} -> ${to}`;
