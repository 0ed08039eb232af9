/** The whole comparison as Markdown for a pull request. */
import type { Deployment } from '../../../../lambda/config/rules/deployment.ts';
import { type Amounts, amountsOf } from '../backtest/amounts.ts';
import { type Check, FIGURES, hasLimits, LEAST_RISE, type Limits } from './limits.ts';
import { doubtsOf, remarksOf } from './notes.ts';
import type { SettingChange } from './setting-changes.ts';
import { figuresTable, groupsTable, poolsTable, settingsTable, weeksTable } from './tables.ts';
import { type Judged, traceLine, type Verdict } from './verdict.ts';
import { arrow, code } from './words.ts';

export type Comparison = {
  readonly verdict: Verdict;
  readonly judged: readonly Judged[];
  readonly settings: readonly SettingChange[];
  readonly limits: Limits;
  readonly region: string;
  /** After the change. */
  readonly pools: Deployment['pools'];
};

/** The first line is the verdict. */
export function markdownOf(comparison: Comparison): string {
  const { verdict, judged, settings, region, pools } = comparison;
  const [isNone, isOne] = [judged.length === 0, judged.length === 1];
  const doubts = isOne ? judged.flatMap(({ change }) => doubtsOf(change)) : [];
  const sureness = bullets([...doubts, ...remarksOf(settings, region, pools)]);
  return [
    `**${verdict.text}**`,
    !isOne && !isNone && judged.map(traceLine).join('\n'),
    !isNone && limitsText(comparison),
    ...(isOne ? judged.flatMap(figures) : []),
    ...settingsText(settings),
    ...(isOne ? [] : judged.flatMap(ofTrace)),
    !isNone && `#### How sure this is\n\n${sureness}`,
  ]
    .filter((part) => part !== false)
    .join('\n\n');
}

function figures({ change }: Judged): readonly string[] {
  const [pools, groups] = [poolsTable(change), groupsTable(change.groups)];
  return [
    figuresTable(change),
    weeksTable(change.estimates),
    pools && `Pools that differ:\n\n${pools}`,
    groups && `Waits that differ, by organization and tags:\n\n${groups}`,
  ].filter((part) => part !== undefined);
}

function ofTrace(judged: Judged): readonly string[] {
  const { change } = judged;
  return [`#### Trace ${code(change.trace.name)}`, ...figures(judged), bullets(doubtsOf(change))];
}

function limitsText({ judged, limits }: Comparison): string {
  if (!hasLimits(limits)) return NO_LIMITS;
  return judged.flatMap((each) => checkLines(each, judged.length === 1)).join('\n');
}

const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');

const NO_LIMITS =
  'No limits are set, so this comparison cannot fail. To set some: `--max-cost-increase 10%`, `--max-wait-increase 20%`, `--fail-on unserved`.';

const OUTCOMES = { kept: 'kept', crossed: '**crossed**', undecided: 'not decided' } as const;
function checkLines({ change, checks }: Judged, isOne: boolean): readonly string[] {
  return checks.map(
    (check) => `- ${isOne ? '' : `${code(change.trace.name)}: `}${checkText(check, amountsOf(change))}`,
  );
}

export function checkText(check: Check, amounts: Pick<Amounts, 'of'>): string {
  const { outcome, option, limit, figure, group, before, after } = check;
  const { name, format } = FIGURES[figure];
  const of = group === undefined ? '' : ` of ${code(group)}`;
  const given = limit === undefined ? code(option) : code(`${option} ${limit.text}`);
  const why = whyOf(check, format(figure === 'dollars' ? amounts.of(LEAST_RISE) : LEAST_RISE));
  return `${given} ${OUTCOMES[outcome]}: ${name}${of} (${arrow({ before, after }, format)})${why}`;
}

function whyOf({ outcome, limit, before, after }: Check, leastRise: string): string {
  if (outcome === 'undecided') return '. The difference may be chance: add `--seeds`';
  const isSmall = outcome === 'kept' && limit?.share !== undefined && after > before * (1 + limit.share);
  return isSmall ? `. A percentage always allows a rise of ${leastRise}` : '';
}

function settingsText(settings: readonly SettingChange[]): readonly string[] {
  const judged = settings.filter(({ isReplayed }) => isReplayed);
  const others = settings.filter(({ isReplayed }) => !isReplayed);
  const none = settings.length === 0 ? 'The two files have the same settings.' : 'None that a replay judges.';
  return [
    `#### Changed settings\n\n${judged.length === 0 ? none : settingsTable(judged)}`,
    ...(others.length === 0 ? [] : [`${NOT_JUDGED}\n\n${settingsTable(others)}`]),
  ];
}

const NOT_JUDGED = '#### Not judged\n\nThese settings change too. A replay does not show what they do:';
