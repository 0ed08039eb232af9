/** Formats the report as text: the sum, the table, what is left out, and what to do. */

import { type EpochMs, isoTime } from '../../lambda/decision/model/brands.ts';
import { meanOf, sum } from '../../lambda/decision/model/collections.ts';
import { some, timeText } from '../../lambda/explain/format.ts';
import { type Column, plainTable } from '../shared/plain-table.ts';
import { adviceLines } from './advice.ts';
import { dollarRange, dollarText, hourText, secondRange, secondText, shareText } from './amounts.ts';
import type { Group } from './build-groups.ts';
import type { GroupEstimate, TemplateEstimate } from './estimate.ts';
import { CONFIDENCE } from './interval.ts';
import { LEAST_BUILDS } from './month.ts';
import { type ColdCacheReport, DAY_MS, daysOf, nameOf } from './report.ts';

/** `width`: characters of a line. @default as wide as needed */
export function coldCacheScreen(report: ColdCacheReport, width?: number): string {
  return [
    headline(report),
    plainTable(
      COLUMNS,
      report.templates.flatMap((template) => rowsOf(report, template)),
      width,
    ),
    notes(report).join('\n'),
    ...section('what to do', adviceLines(report)),
  ].join('\n\n');
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [[`${title}:`, ...lines.map((line) => `  ${line}`)].join('\n')];

function headline(report: ColdCacheReport): string {
  const { month, period, templates } = report;
  const builds = sum(templates, (each) => each.builds.length);
  const from = `${some(builds, 'build')} from ${timeText(isoTime(period.from))} to ${timeText(isoTime(period.to))}`;
  if (month === undefined) return `too few builds to say what empty provider caches cost: ${from}`;
  if (month.seconds.low <= 0) return `no cost of empty provider caches found: ${from}`;
  const { seconds, dollars, waitingDollars, fargateDollars } = month;
  return [
    `empty provider caches cost ${dollarText(dollars.value)} a month (${dollarRange(dollars)}): ${from}`,
    `${hourText(seconds.value)} a month are spent in downloads: ${dollarText(waitingDollars)} of waiting, ${dollarText(fargateDollars)} of Fargate`,
  ].join('\n');
}

const COLUMNS: readonly Column[] = [
  { head: 'template', align: 'left' },
  { head: 'builds', align: 'left' },
  { head: 'count', align: 'right' },
  { head: 'init', align: 'right' },
  { head: 'longer by', align: 'right' },
  { head: 'a month', align: 'right' },
];

const GROUP_TEXTS: Readonly<Record<Group, string>> = {
  first: 'first of its task',
  new: 'first of its version in a used task',
  unsure: 'perhaps first of its task',
  warm: 'later',
};

function rowsOf(report: ColdCacheReport, template: TemplateEstimate) {
  const { groups, builds } = template;
  const first = builds.filter(({ group }) => group === 'first').length;
  const own = [
    nameOf(report, template.template),
    `all, ${shareText(first / builds.length)} first of their task`,
  ];
  return [
    [...own, builds.length, '', '', costOf(template)],
    ...groups.map((group) => [
      '',
      GROUP_TEXTS[group.group],
      group.builds,
      initOf(group),
      longerOf(group),
      '',
    ]),
  ];
}

function costOf({ month, verdict }: TemplateEstimate): string {
  if (month === undefined) return 'too few builds to say';
  if (verdict === 'none') return 'no cost found';
  return `${hourText(month.seconds.value)}, ${dollarText(month.dollars.value)}`;
}

const initOf = ({ inits }: GroupEstimate): string => (inits.length === 0 ? '' : secondText(meanOf(inits)));

function longerOf({ longer, inits, group }: GroupEstimate): string {
  if (longer !== undefined) return `${secondText(longer.value)} (${secondRange(longer)})`;
  return group === 'warm' || inits.length === 0 ? '' : 'too few to say';
}

function notes(report: ColdCacheReport): readonly string[] {
  const { period, sample, timed } = report;
  return [
    `init: mean time of terraform init. longer by: than in later builds of the same template version, with the interval of ${shareText(CONFIDENCE)} confidence.`,
    `a month: 30 days like the last ${daysOf(period)}. The interval does not cover that other weeks have other builds.`,
    "dollars: a minute of waiting has the price of the setting waiting. Fargate's prices are those of us-east-1.",
    `Read the timings of ${some(timed, 'build')}: at most ${sample} of each line, and at least ${LEAST_BUILDS} to compare.`,
    ...young(report),
    ...unseen(report),
    ...leftOut(report),
  ];
}

/** A pool without builds in the first days costs more a month than these days tell. */
function young({ period, templates }: ColdCacheReport): readonly string[] {
  const starts = templates.flatMap(({ builds }) => builds.map(({ startedAt }) => startedAt));
  // a call with all of them as arguments would fail with more than about 100,000
  const first = starts.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const days = Math.ceil((period.to - first) / DAY_MS);
  if (days >= daysOf(period)) return [];
  return [
    `The first of these builds began at ${timeText(isoTime(first as EpochMs))}. If the pools are younger than ${some(daysOf(period), 'day')}, use --days ${days}: the month is computed from all of these days.`,
  ];
}

function unseen({ unseenShare }: ColdCacheReport): readonly string[] {
  if (unseenShare < 0.005) return [];
  return [
    `About ${shareText(unseenShare)} of all builds are of workspaces that coderd does not list, mostly deleted ones. The month counts them like the others.`,
  ];
}

function leftOut({ omitted, untimed, unreadableWorkspaces, templates }: ColdCacheReport): readonly string[] {
  const few = sum(templates, ({ verdict, builds }) => (verdict === 'too-few' ? builds.length : 0));
  const lines: readonly (readonly [count: number, what: string, why: string])[] = [
    [
      omitted.unlisted,
      'build',
      'coderd does not list their daemon any more, for example after its key was deleted',
    ],
    [omitted.foreign, 'build', 'no task of these pools with a guard ran them'],
    [few, 'build', 'their templates have too few builds with timings to compare'],
    [unreadableWorkspaces, 'workspace', "the token's user may not read their builds"],
    [untimed, 'chosen build', 'coderd has no timings of them for this user'],
  ];
  return lines.flatMap(([count, what, why]) =>
    count === 0 ? [] : [`Left out: ${some(count, what)}; ${why}.`],
  );
}
