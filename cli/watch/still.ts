/**
 * The page as it is now in one file for others: no script, nothing from outside. Each text comes from fields that are
 * named here, so no error of AWS or coderd is among them; people are named only if that is asked for.
 */
import { readFileSync } from 'node:fs';
import { sum } from '../../lambda/decision/model/collections.ts';
import type { Finding, Plan, Reason } from '../../lambda/decision/model/plan.ts';
import { SECOND_MS } from '../../lambda/decision/model/units.ts';
import { some, tagText, timeText } from '../../lambda/explain/format.ts';
import { reasonSentence } from '../../lambda/explain/reason-text.ts';
import type { LastLook } from '../status/read-log.ts';
import type { WatchFrame } from './frame.ts';
import { clockText, dollarText, type SmallStrip, type Strip, waitText } from './strip/drawing.ts';
import type { Mark } from './strip/series.ts';
import { UNKNOWN_DAY } from './watched-log.ts';

export type Still = {
  readonly frame: WatchFrame;
  readonly plan: Plan;
  readonly lastLook: LastLook;
  /** Whether the file names owners, workspaces and the authors of overrides. */
  readonly areNamed: boolean;
};

/** An HTML document. */
export function stillPage(still: Still): string {
  const { frame, plan, lastLook } = still;
  const { identity, headline, dollars, lanes, strip } = frame;
  const { anHour, waitingAnHour, past } = dollars;
  const title = [identity.coderd, identity.stack && `stack ${identity.stack}`, identity.region];
  const page = readFileSync(new URL('./page.html', import.meta.url), 'utf8');
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
  const keys = /<footer>([\s\S]*?)<\/footer>/.exec(page)?.[1] ?? '';
  const waiting = waitingAnHour > 0 ? `, waiting ${dollarText(waitingAnHour)}` : '';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coder provisioner autoscaler, ${text(timeText(plan.takenAt))}</title>
<style>${style}${TABLE}</style>
<header>
<div><h1>${text(headline)}</h1>
<p class="quiet">${text(title.filter(Boolean).join(' · '))}</p>
<p class="quiet">As it was at ${text(timeText(plan.takenAt))}. ${text(lastLookText(lastLook))}</p></div>
<p class="money"><b>${text(`tasks ${dollarText(anHour)}${waiting} an hour`)}</b><br><span class="quiet">${
    past === null
      ? ''
      : text(
          `${strip.title}: ${dollarText(past.dollars)}; a fixed fleet of the peak: ${dollarText(past.fixedFleet)}`,
        )
  }</span></p>
</header>
<main>
${section('Findings', findingItems(still), 'bad')}
${section('Unschedulable jobs', plan.unserved.map(unservedText).map(item), 'bad')}
<div class="column">
<section><div class="head"><h2>${text(strip.title[0]?.toUpperCase() + strip.title.slice(1))}</h2><p class="quiet">${text(noteText(strip.note))}</p></div>
<div id="strip">${stripSvg(strip)}</div>
${valuesTable(strip)}</section>
<section class="few"><h2>Pools</h2>${lanes.map((lane) => laneHtml(lane, still)).join('\n')}</section>
</div>
<div class="column">
${section(
  'Jobs that wait',
  frame.waiting.flatMap((group) => waitingItems(group, still)),
)}
${section(
  'The next hours',
  frame.next.map(({ at, text: words }) => `<li>${time(at)}${text(words)}</li>`),
)}
${section(
  'Changes of the last hour',
  frame.changes.map(({ at, pool, what }) => `<li>${time(at)}${text(`${pool} ${what}`)}</li>`),
)}
</div>
</main>
<footer>${keys}</footer>
</html>
`;
}

const TABLE = `table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; margin-top: 6px; }
td, th { text-align: right; padding: 1px 10px 1px 0; font-weight: normal; }
th { color: var(--quiet); }
td:last-child, td:first-child, th:first-child { text-align: left; }
.wide { overflow-x: auto; }
`;

const HTML: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
]);

/** Numbers of accounts and ARNs may stand in names that a person chose. */
function text(words: string): string {
  return words
    .replaceAll(/\barn:[^\s,;)"]+/g, 'an ARN')
    .replaceAll(/\b\d{12}\b/g, 'an account')
    .replaceAll(/[&<>"]/g, (sign) => HTML.get(sign) ?? '');
}

const item = (words: string): string => `<li>${text(words)}</li>`;
const time = (at: string): string => `<time datetime="${text(at)}">${text(at.slice(11, 16))}</time>`;

function section(title: string, items: readonly string[], name = ''): string {
  if (items.length === 0 && name === 'bad') return '';
  const list = items.length === 0 ? '<p class="quiet">None.</p>' : `<ul>${items.join('\n')}</ul>`;
  return `<section class="${name}"><h2>${text(title)}</h2>${list}</section>`;
}

function lastLookText(look: LastLook): string {
  if (look.kind === 'none') return 'The function has not looked in the last hour.';
  if (look.kind === 'unknown') return 'The last look of the function is unknown.';
  const result = look.failures.length === 0 ? 'succeeded' : 'failed';
  return `The last look of the function was at ${timeText(look.takenAt)} and ${result}.`;
}

const noteText = (note: string | null): string =>
  note?.startsWith(UNKNOWN_DAY) ? `${UNKNOWN_DAY}.` : (note ?? '');

/** By code: the sentences have the words of AWS and coderd, and name people. */
function findingItems({ plan, frame }: Still): readonly string[] {
  const others = frame.findings.length - plan.findings.length;
  return [
    ...plan.findings.map(findingText),
    ...(others > 0 ? [`${others} more, which the function says`] : []),
  ].map(item);
}

function findingText(finding: Finding): string {
  const where = [
    ...('pool' in finding && finding.pool !== null ? [`pool "${finding.pool}"`] : []),
    ...('organization' in finding && finding.organization !== undefined
      ? [`organization "${finding.organization}"`]
      : []),
  ];
  return [...where, finding.code.replaceAll('-', ' ')].join(': ');
}

const unservedText = ({ organization, tags, jobs }: Plan['unserved'][number]): string =>
  `organization "${organization}", tags ${tagText(tags)}: ${some(jobs, 'job')}`;

/** The fields of reasons that are numbers, times, names of pools, or words of ours. */
const PLAIN: ReadonlySet<string> = new Set([
  ...[
    'code',
    'from',
    'to',
    'because',
    'doubts',
    'pool',
    'pools',
    'tries',
    'kind',
    'for',
    'at',
    'until',
    'since',
  ],
  ...['learned', 'others', 'dollarsPerHour'],
]);
const NAMING: ReadonlySet<string> = new Set(['by', 'why']);

function reasonText(reason: Reason, areNamed: boolean): string {
  const isPlain = (value: unknown, key: string): boolean => {
    if (typeof value === 'string') return PLAIN.has(key) || (areNamed && NAMING.has(key));
    if (typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value)) return value.every((each) => isPlain(each, key));
    return Object.entries(value).every(([name, each]) => isPlain(each, name));
  };
  return isPlain(reason, '') ? reasonSentence(reason) : reason.code.replaceAll('-', ' ');
}

function laneHtml(lane: WatchFrame['lanes'][number], { plan, frame, areNamed }: Still): string {
  const { name, state, tags, desired, floor, max, staying, leaving, tasks, dollarsAnHour } = lane;
  const pool = plan.pools.find((each) => each.name === name);
  const why = (pool?.why ?? []).map((reason) => reasonText(reason, areNamed)).join('; ');
  const counts = Map.groupBy(tasks, (task) => task.state);
  const words = [...counts].map(([each, all]) => `${all.length} ${each}`).join(', ') || 'no tasks';
  const small = frame.strip.pools.find((each) => each.name === name);
  const marks = tasks.map(({ state: each, isBuilding }) => {
    const busy = each === 'draining' && isBuilding ? ' busy' : '';
    return `<i class="mark ${each}${busy}"></i>`;
  });
  const count =
    desired.from === null
      ? 'no ECS service'
      : `${staying} of ${max ?? '?'} tasks${leaving > 0 ? `, ${leaving} leave` : ''}`;
  const numbers = `${tags}. Desired count ${desired.from ?? '?'} → ${desired.to ?? '?'}, floor ${floor}, ${dollarText(dollarsAnHour)} an hour`;
  return `<details class="lane${state === 'wrong' ? ' wrong' : ''}"><summary><span class="name"><b>${text(name)}</b> <span>${text(tags)}</span></span><span class="count">${text(count)}</span>${
    small === undefined ? '' : smallSvg(small, frame.strip)
  }<span class="marks" role="img" aria-label="${text(words)}">${marks.join('')}</span><span class="why">${text(why)}</span></summary><p class="quiet">${text(numbers)}</p><p>${text(why)}</p><p class="quiet">${text(small?.label ?? '')}</p></details>`;
}

function waitingItems(group: WatchFrame['waiting'][number], { frame, areNamed }: Still): readonly string[] {
  const ageS = (since: string): number => (Date.parse(frame.takenAt) - Date.parse(since)) / 1000;
  const head = `${group.jobs} with ${group.tags}, the oldest for ${waitText(ageS(group.since))}: ${group.by}`;
  const rows = group.rows.map(({ who, template, since, start }) => {
    const name = [...(areNamed ? [who] : []), ...(template === null ? [] : [`template ${template}`])];
    return item(`${name.join(', ') || 'a job'}, for ${waitText(ageS(since))}: ${start}`);
  });
  return [`<li>${text(head)}<ul>${rows.join('')}</ul></li>`];
}

const MARK_ROWS: readonly Mark['kind'][] = ['alarm', 'deployment', 'override'];

function stripSvg(strip: Strip): string {
  const { bins, gaps, ticks, panels, marks, height } = strip;
  const share = (at: number): string => `${Number(((100 * at) / bins).toFixed(3))}%`;
  const drawn = [
    ...gaps.map(
      ([from, to]) =>
        `<rect class="gap" x="${share(from)}" width="${share(to + 1 - from)}" y="20" height="${height - 36}"><title>no look</title></rect>`,
    ),
    ...ticks.map(
      ({ at }) => `<line class="tick" x1="${share(at)}" x2="${share(at)}" y1="20" y2="${height - 14}"/>`,
    ),
    ...panels.map(
      ({ y, height: tall, shapes }) =>
        `<svg y="${y}" width="100%" height="${tall}" viewBox="0 0 ${bins} 100" preserveAspectRatio="none">${shapesSvg(shapes)}</svg>`,
    ),
    ...marks.map(
      ({ kind, from, to, text: words }) =>
        `<rect class="${kind}" x="${share(from)}" width="${share(to + 1 - from)}" y="${1 + 6 * MARK_ROWS.indexOf(kind)}" height="4"><title>${text(words)}</title></rect>`,
    ),
    ...panels.map(
      ({ title, top, y }) =>
        `<text x="2" y="${y - 3}">${text(title)}</text><text x="100%" y="${y - 3}" text-anchor="end">${text(top)}</text>`,
    ),
    ...ticks.map(({ at, text: words }) => {
      const anchor = at < bins / 20 ? 'start' : at > bins * 0.98 ? 'end' : 'middle';
      return `<text x="${share(at)}" y="${height - 2}" text-anchor="${anchor}">${text(words)}</text>`;
    }),
  ];
  return `<svg width="100%" height="${height}" role="img" aria-label="${text(strip.label)}">${drawn.join('')}</svg>`;
}

const shapesSvg = (shapes: SmallStrip['shapes']): string =>
  shapes.map(({ kind, d }) => `<path class="${kind}" d="${d}"/>`).join('');

function smallSvg({ label, shapes, marks }: SmallStrip, { bins, gaps }: Strip): string {
  const rects = [
    ...gaps.map(
      ([from, to]) => `<rect class="gap" x="${from}" width="${to + 1 - from}" y="20" height="100"/>`,
    ),
    ...marks.map(
      ({ kind, from, to }) => `<rect class="${kind}" x="${from}" width="${to + 1 - from}" height="14"/>`,
    ),
  ];
  return `<svg class="small" viewBox="0 0 ${bins} 120" preserveAspectRatio="none" role="img" aria-label="${text(label)}">${rects.join('')}<g transform="translate(0 20)">${shapesSvg(shapes)}</g></svg>`;
}

const MOST_ROWS = 24;

/** What a pointer shows on the page that lives. */
function valuesTable({ from, widthSeconds, known: bins, values, slowest, marks }: Strip): string {
  const step = Math.ceil(bins / MOST_ROWS);
  const clock = (bin: number): string => clockText(Date.parse(from) / SECOND_MS + bin * widthSeconds);
  const rows = Array.from({ length: Math.ceil(bins / step) }, (_, index) => {
    const [first, end] = [index * step, Math.min(bins, (index + 1) * step)];
    const known = (row: Strip['values']['busy']): readonly number[] =>
      row.slice(first, end).filter((value) => value !== null);
    const total = (row: Strip['values']['busy']): number => sum(known(row), (each) => each);
    const seen = known(values.busy).length;
    if (seen === 0) return [clock(first), 'no look', '', '', '', '', ''];
    const mean = (row: Strip['values']['busy']): string => `${Math.round((10 * total(row)) / seen) / 10}`;
    const longest = known(values.p95).length === 0 ? undefined : Math.max(...known(values.p95));
    const at = longest === undefined ? -1 : values.p95.indexOf(longest, first);
    const words = marks.filter((mark) => mark.from < end && mark.to >= first).map((mark) => mark.text);
    return [
      ...[clock(first), mean(values.desired), mean(values.busy), `${Math.max(...known(values.waiting))}`],
      longest === undefined ? '' : `${waitText(longest)} ${slowest[at] ?? ''}`,
      dollarText(total(values.dollars)),
      [...new Set(words)].join(', '),
    ];
  });
  const head = ['from (UTC)', 'desired', 'busy', 'jobs waited', 'p95 of waits', 'tasks cost', ''];
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${text(cell)}</${tag}>`).join('')}</tr>`;
  return `<details><summary class="quiet">The values as a table</summary><div class="wide"><table>${cells('th', head)}${rows.map((row) => cells('td', row)).join('')}</table></div></details>`;
}
