/**
 * One HTML file that loads nothing from elsewhere, as its content security policy says. It is
 * complete without its script, which only makes the charts interactive.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Backtest } from '../replay/result.ts';
import { pageScript } from './page-script.ts';
import { headlineOf, summaryOf } from './parts/headline.ts';
import { Html, html, jsonForScript } from './parts/html.ts';
import { jobsLabel } from './parts/numbers.ts';
import { periodLabel } from './parts/times.ts';
import { allFiguresSection } from './sections/all-figures.ts';
import { costsSection } from './sections/costs.ts';
import { hoursOfWeekSection } from './sections/hours-of-week.ts';
import { keyFigures } from './sections/key-figures.ts';
import { poolsSection } from './sections/pools.ts';
import { assumptionsSection, settingsSection } from './sections/settings.ts';
import { waitsSection } from './sections/waits.ts';

export function renderReport(backtest: Backtest): string {
  const script = pageScript();
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-${hashOf(script)}'">
<link rel="icon" href="data:,">
<title>Backtest: ${backtest.trace.name}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<p class="what">Backtest of <bdi>${backtest.trace.name}</bdi> · ${periodLabel(backtest)} · ${jobsLabel(backtest.trace.jobs)} · all times are UTC</p>
<h1>${headlineOf(backtest)}.</h1>
<p class="summary">${summaryOf(backtest)}</p>
${keyFigures(backtest)}
</header>
${costsSection(backtest)}
${poolsSection(backtest)}
${waitsSection(backtest)}
${hoursOfWeekSection(backtest)}
${allFiguresSection(backtest)}
${settingsSection(backtest)}
${assumptionsSection(backtest)}
<footer>Charts: Apache ECharts, Apache License 2.0.</footer>
</main>
<script type="application/json" id="backtest">${jsonForScript(backtest)}</script>
<script>${new Html(script)}</script>
</body>
</html>
`.text;
}

const STYLE = new Html(readFileSync(new URL('style.css', import.meta.url), 'utf8'));

const hashOf = (script: string): string => createHash('sha256').update(script).digest('base64');
