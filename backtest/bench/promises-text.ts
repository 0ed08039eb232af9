/** Formats the calibration as a table in Markdown, as docs/waits.md has it. */
import { coverageOf, medianWidth, shareWithout, type Tally } from './tally.ts';

export type ScenarioCalibration = {
  readonly scenario: string;
  readonly hours: number;
  readonly seeds: number;
  readonly every: Tally;
  readonly first: Tally;
};

/** One row for each scenario: every look, then first looks. */
export function calibrationText(rows: readonly ScenarioCalibration[]): string {
  return [
    '| scenario | hours x seeds | promises | p5 to p95 | before p5 | after p95 | median width | first look | without | mostly because |',
    '| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |',
    ...rows.map(rowText),
  ].join('\n');
}

export function rowText({ scenario, hours, seeds, every, first }: ScenarioCalibration): string {
  const [why] = Object.entries(every.without).toSorted(([, a], [, b]) => b - a);
  const cells = [
    ...[scenario, `${hours} x ${seeds}`, every.promises.toLocaleString('en-GB')],
    ...[percent(coverageOf(every)), percent(every.below / every.looks), percent(every.above / every.looks)],
    ...[`${medianWidth(every)} s`, percent(coverageOf(first)), percent(shareWithout(every)), why?.[0] ?? '-'],
  ];
  return `| ${cells.join(' | ')} |`;
}

const percent = (share: number): string => (Number.isNaN(share) ? '-' : `${(share * 100).toFixed(1)} %`);
