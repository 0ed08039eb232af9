/** One HTML file without scripts that loads nothing from elsewhere, as its content security policy says. */
import { readFileSync } from 'node:fs';
import type { Backtest } from '../replay/result.ts';
import { headlineOf, summaryOf } from './parts/headline.ts';
import { Html, html } from './parts/html.ts';
import { jobsLabel } from './parts/numbers.ts';
import { periodLabel } from './parts/times.ts';
import { allFiguresSection } from './sections/all-figures.ts';
import { costsSection } from './sections/costs.ts';
import { keyFigures } from './sections/key-figures.ts';
import { poolsSection } from './sections/pools.ts';
import { assumptionsSection, settingsSection } from './sections/settings.ts';
import { waitPartsSection } from './sections/wait-parts.ts';

export function renderReport(backtest: Backtest): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
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
${waitPartsSection(backtest)}
${poolsSection(backtest)}
${allFiguresSection(backtest)}
${settingsSection(backtest)}
${assumptionsSection(backtest)}
<footer>Charts: Apache ECharts, Apache License 2.0.</footer>
</main>
</body>
</html>
`.text;
}

const STYLE = new Html(readFileSync(new URL('style.css', import.meta.url), 'utf8'));
