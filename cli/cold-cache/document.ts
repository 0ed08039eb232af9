/** The report as one JSON document. */
import { isoTime } from '../../lambda/decision/model/brands.ts';
import { meanOf } from '../../lambda/decision/model/collections.ts';
import type { GroupEstimate, TemplateEstimate } from './estimate.ts';
import { CONFIDENCE, type Estimate } from './interval.ts';
import type { MonthEstimate } from './month.ts';
import { type ColdCacheReport, nameOf } from './report.ts';

export function coldCacheDocument(report: ColdCacheReport) {
  const { period, sample, timed, untimed, omitted, unreadableWorkspaces, unseenShare } = report;
  return {
    version: 1,
    from: isoTime(period.from),
    to: isoTime(period.to),
    confidence: CONFIDENCE,
    sample,
    timedBuilds: timed,
    leftOut: {
      unlistedDaemon: omitted.unlisted,
      foreignDaemon: omitted.foreign,
      unreadableWorkspaces,
      withoutTimings: untimed,
    },
    unseenShare: rounded(unseenShare),
    month: monthDocument(report.month),
    templates: report.templates.map((template) => templateDocument(report, template)),
  };
}

function templateDocument(
  report: ColdCacheReport,
  { template, builds, groups, verdict, month }: TemplateEstimate,
) {
  const first = builds.filter(({ group }) => group === 'first').length;
  return {
    id: template,
    name: nameOf(report, template),
    verdict,
    builds: builds.length,
    firstShare: rounded(first / builds.length),
    groups: groups.map(groupDocument),
    month: monthDocument(month),
  };
}

function groupDocument({ group, builds, inits, longer }: GroupEstimate) {
  return {
    group,
    builds,
    timed: inits.length,
    initSeconds: inits.length === 0 ? null : rounded(meanOf(inits)),
    longerSeconds: range(longer),
  };
}

function monthDocument(month: MonthEstimate | undefined) {
  if (month === undefined) return null;
  const { seconds, dollars, personSeconds, waitingDollars, fargateDollars } = month;
  return {
    seconds: range(seconds),
    dollars: range(dollars),
    personSeconds: rounded(personSeconds),
    waitingDollars: rounded(waitingDollars),
    fargateDollars: rounded(fargateDollars),
  };
}

const range = (estimate: Estimate | undefined) =>
  estimate === undefined
    ? null
    : { value: rounded(estimate.value), low: rounded(estimate.low), high: rounded(estimate.high) };

const rounded = (value: number): number => Number(value.toFixed(4));
