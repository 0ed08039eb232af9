/** Draws a CloudWatch dashboard as SVG. `<metadata>` has the widgets, so that a test can compare them. */
import type { EChartsOption } from 'echarts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import { drawPicture } from '../../what-if/report/charts/picture.ts';
import { AXIS, BASE } from '../../what-if/report/charts/style.ts';
import { type Html, html } from '../../what-if/report/parts/html.ts';
import { runInsights } from '../../world/logs/insights.ts';
import { wrap } from '../screen/event.ts';
import { type DashboardData, END } from './dashboard-data.ts';
import { type AlarmProperties, isOn, type Range, type Series, seriesOf } from './dashboard-series.ts';
import { type Resources, type Widget, widgetsOf } from './dashboard-widgets.ts';

const UNIT = { width: 42, height: 32 };
const GAP = 8;
const COLUMNS = 24;
const RANGE: Range = { from: plusMs(END, -3 * HOUR_MS), to: END };
const COLOURS = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b'];
const TITLE = 'The dashboard of a deployment with four pools: graphs and tables below four questions';

type Picture = { readonly resources: Resources; readonly data: DashboardData };

export function dashboardSvg(picture: Picture): string {
  const widgets = widgetsOf(picture.resources);
  const width = COLUMNS * UNIT.width + GAP;
  const height = Math.max(...widgets.map((widget) => widget.y + widget.height)) * UNIT.height + GAP;
  const drawn = widgets.map((widget, index) => drawWidget(widget, index, picture));
  return `${
    html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"><title>${TITLE}</title><metadata>${JSON.stringify(widgets)}</metadata><style>svg{--muted:#545b64;--rule:#eaeded;--rule-strong:#aab7b8}text{font:11px system-ui,Segoe UI,Roboto,Liberation Sans,Arial,sans-serif;fill:#16191f}.b{font-weight:700}.m{font-family:ui-monospace,Menlo,Consolas,Liberation Mono,monospace;font-size:10px}.h{font-size:16px;font-weight:700}</style><rect width="100%" height="100%" fill="#f2f3f3"/>${drawn}</svg>`
      .text
  }\n`;
}

type Box = { readonly width: number; readonly height: number };
type Drawing = Picture & { readonly id: string };

function drawWidget(widget: Widget, index: number, picture: Picture): Html {
  const { type, properties } = widget;
  const box = { width: widget.width * UNIT.width - GAP, height: widget.height * UNIT.height - GAP };
  const inner = DRAW[type](properties, box, { ...picture, id: `w${index}` });
  const frame = type === 'text' ? [] : [html`<rect width="100%" height="100%" rx="3" fill="#fff"/>`];
  const title = wrap(properties.title ?? '', box.width / BOLD_CHARACTER).map(
    (line, row) => html`<text class="b" x="10" y="${17 + row * LINE}">${line}</text>`,
  );
  return html`<svg x="${widget.x * UNIT.width + GAP}" y="${widget.y * UNIT.height + GAP}" width="${box.width}" height="${box.height}">${frame}${title}${inner}</svg>`;
}

const DRAW: Readonly<
  Record<Widget['type'], (properties: Widget['properties'], box: Box, drawing: Drawing) => Html>
> = {
  text: drawText,
  metric: drawGraph,
  log: drawTable,
  alarm: drawAlarms,
};

/** Pixels. Characters are estimated from above, for any of the fonts. */
const LINE = 15;
const CHARACTER = 6.8;
const BOLD_CHARACTER = 7;
const TOP = 28;

function drawText({ markdown = '' }: Widget['properties'], { width }: Box): Html {
  const heading = /^## (.+)/.exec(markdown)?.[1];
  if (heading !== undefined) return html`<text class="h" x="2" y="18">${heading}</text>`;
  const lines = wrap(markdown.replaceAll('`', ''), width / CHARACTER);
  return html`${lines.map((line, row) => html`<text x="2" y="${14 + row * LINE}">${line}</text>`)}`;
}

function drawGraph(properties: Widget['properties'], { width, height }: Box, { id, data }: Drawing): Html {
  const series = seriesOf(properties.metrics ?? [], data, RANGE);
  const titleLines = wrap(properties.title ?? '', width / BOLD_CHARACTER).length;
  const top = TOP + (titleLines - 1) * LINE;
  const legend = legendRows(series, width);
  const size = { width, height: height - top - legend.length * LINE - 6 };
  const picture = drawPicture(id, () => graphOption(series, properties), size);
  const items = legend.flatMap((row, at) =>
    row.map(({ label, x, colour }) => {
      const y = height - (legend.length - at) * LINE + 6;
      return html`<rect x="${x}" y="${y - 9}" width="9" height="9" fill="${colour}"/><text x="${x + 13}" y="${y}">${label}</text>`;
    }),
  );
  return html`<g transform="translate(0 ${top})">${picture}</g>${items}`;
}

type LegendItem = { readonly label: string; readonly x: number; readonly colour: string };

/** The labels in as many rows as they need. */
function legendRows(series: readonly Series[], width: number): readonly (readonly LegendItem[])[] {
  const rows: LegendItem[][] = [[]];
  let x = 10;
  for (const [index, { label }] of series.entries()) {
    const needs = 13 + label.length * CHARACTER + 10;
    if (x > 10 && x + needs > width) {
      rows.push([]);
      x = 10;
    }
    rows.at(-1)?.push({ label, x, colour: colourOf(index) });
    x += needs;
  }
  return rows;
}

const colourOf = (index: number): string => COLOURS[index % COLOURS.length] ?? 'black';

function graphOption(series: readonly Series[], properties: Widget['properties']): EChartsOption {
  const { stacked = false, annotations, yAxis } = properties;
  const alarmAt = annotations?.horizontal[0]?.value;
  const axis = {
    ...AXIS,
    type: 'value' as const,
    min: 0,
    splitNumber: 3,
    axisLine: { show: false },
    axisTick: { show: false },
  };
  const values = series.flatMap((each) => (each.isRight ? [] : each.values.map((value) => value ?? 0)));
  // CloudWatch shows the line of an alarm, however small the values are
  const most = yAxis?.left?.max ?? Math.max(...values, alarmAt ?? 0, 1);
  const isOpen = most === Math.max(...values) && yAxis?.left?.max === undefined;
  const scale = isOpen ? {} : { max: most, interval: most / 2 };
  return {
    ...BASE,
    color: COLOURS,
    grid: { left: 40, right: series.some(({ isRight }) => isRight) ? 40 : 24, top: 6, bottom: 22 },
    xAxis: {
      ...AXIS,
      type: 'time',
      splitNumber: 3,
      min: RANGE.from,
      max: RANGE.to,
      splitLine: { show: false },
      axisLabel: { ...AXIS.axisLabel, formatter: '{HH}:{mm}' },
    },
    yAxis: [
      { ...axis, ...scale },
      { ...axis, splitLine: { show: false } },
    ],
    series: series.map(({ label, isRight, periodMs, values }, index) => ({
      type: 'line' as const,
      name: label,
      yAxisIndex: isRight ? 1 : 0,
      symbol: 'none',
      lineStyle: { width: 1.4 },
      ...(stacked ? { stack: 'all', areaStyle: { opacity: 0.6 } } : {}),
      data: values.map((each, at) => [RANGE.from + at * periodMs, each ?? (stacked ? 0 : null)]),
      ...(index === 0 && alarmAt !== undefined ? { markLine: alarmLine(alarmAt) } : {}),
    })),
  };
}

const alarmLine = (yAxis: number) => ({
  symbol: 'none',
  silent: true,
  lineStyle: { color: '#d62728', type: 'dashed' as const },
  label: { formatter: 'alarm', position: 'insideEndBottom' as const, color: '#d62728' },
  data: [{ yAxis }],
});

const ROW = 15;
const MONOSPACED = 6.1;
const WIDEST = 106;

function drawTable(
  { query = '' }: Widget['properties'],
  { height }: Box,
  { data: { events } }: Drawing,
): Html {
  const own = events.filter(({ timestamp }) => timestamp >= RANGE.from);
  const rows = runInsights(own, query.replace(/^SOURCE .*? \| /, ''));
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (rows.length === 0) return html`<text x="10" y="${TOP + ROW}">No data found for this time range.</text>`;
  const shown = rows.slice(0, Math.floor((height - TOP) / ROW) - 1);
  let x = 10;
  const columns = fields.map((field) => {
    const cells = [field, ...shown.map((row) => cellText(row[field] ?? ''))];
    const at = x;
    x += (Math.max(...cells.map(({ length }) => length)) + 2) * MONOSPACED;
    return cells.map(
      (cell, row) =>
        html`<text class="${row === 0 ? 'm b' : 'm'}" x="${at}" y="${TOP + 10 + row * ROW}">${cell}</text>`,
    );
  });
  return html`${columns.flat()}`;
}

function cellText(value: string): string {
  const number = Number(value);
  const text = value === '' || Number.isNaN(number) || Number.isInteger(number) ? value : number.toFixed(2);
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text;
}

const CHIP = { width: 140, height: 29 };

function drawAlarms(
  { alarms: ids = [] }: Widget['properties'],
  { width }: Box,
  { resources, data }: Drawing,
): Html {
  const aRow = Math.floor((width - 10) / CHIP.width);
  const chips = ids.map((id, index) => {
    const alarm = resources[id]?.Properties as AlarmProperties;
    const [name, on] = [alarm.AlarmName.replace(/^\w+-/, ''), isOn(alarm, data, RANGE)];
    const [x, y] = [10 + (index % aRow) * CHIP.width, TOP + Math.floor(index / aRow) * CHIP.height];
    const colour = on ? '#d13212' : '#1d8102';
    return html`<rect x="${x}" y="${y}" width="${CHIP.width - 6}" height="${CHIP.height - 6}" rx="2" fill="${on ? '#fdf3f1' : '#f2f8f0'}" stroke="${colour}"/><text x="${x + 6}" y="${y + 16}" style="font-size:10px;fill:${colour}">${on ? '! ' : ''}${name}</text>`;
  });
  return html`${chips}`;
}
