/** Reads the log event of a look (lambda/look/look-event.ts): the changes it made, with reasons. */
import * as z from 'zod';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import type { Reason } from '../../lambda/decision/model/plan.ts';
import { some } from '../../lambda/explain/format.ts';
import { reasonSentence } from '../../lambda/explain/reason-text.ts';

/** `in`: the desired count falls. `drain`: idle daemons are asked to leave. */
export type ChangeKind = 'out' | 'in' | 'drain';

export type LoggedChange = {
  readonly pool: string;
  readonly kind: ChangeKind;
  /** `2 -> 5`, `drains 2 tasks`, or both. */
  readonly what: string;
  readonly why: string;
};

const lookSchema = z.object({
  message: z.literal('look'),
  pools: z.array(z.object({ name: z.string(), why: z.array(z.custom<Reason>()) })),
  actions: z.array(
    z.object({
      pool: z.string(),
      kind: z.string(),
      from: z.number().optional(),
      to: z.number().optional(),
      outcome: z.string(),
    }),
  ),
});
type Look = z.infer<typeof lookSchema>;

/** The changes of a look, at most one for each pool. Empty for any other line of the log. */
export function changesIn(line: string): readonly LoggedChange[] {
  const look = parse(line);
  if (look === undefined) return [];
  const applied = look.actions.filter(({ outcome }) => outcome === 'applied');
  return look.pools.flatMap(({ name, why }) => {
    const told = describe(applied.filter(({ pool }) => pool === name));
    return told === undefined ? [] : [{ pool: name, ...told, why: why.map(reasonSentence).join('; ') }];
  });
}

/** Undefined for other lines, and for a piece of a line. */
function parse(line: string): Look | undefined {
  return lookSchema.safeParse(parseQuietly(line)).data;
}

function describe(own: Look['actions']): Pick<LoggedChange, 'kind' | 'what'> | undefined {
  const count = own.find(({ kind }) => kind === 'set-desired');
  const drained = own.filter(({ kind }) => kind === 'ask-to-leave').length;
  const drains = drained === 0 ? [] : [`drains ${some(drained, 'task')}`];
  if (count === undefined) return drained === 0 ? undefined : { kind: 'drain', what: drains.join() };
  const { from = 0, to = 0 } = count;
  return { kind: to > from ? 'out' : 'in', what: [`${from} -> ${to}`, ...drains].join(', ') };
}
