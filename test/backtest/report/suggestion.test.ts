import { expect, it } from 'vitest';
import type { Backtest } from '../../../backtest/replay/result.ts';
import type { Suggestion, Trial } from '../../../backtest/replay/suggestion.ts';
import { adviceOf } from '../../../backtest/report/parts/advice.ts';
import { renderReport } from '../../../backtest/report/render.ts';
import { browserTest, PHONE, reportBrowser } from './browser.ts';
import { plausibleBacktest } from './fixture.ts';
import { rowsOf, valuesOf } from './tables.ts';

const BASE = plausibleBacktest(7);
const open = reportBrowser();

const trial = (price: number, total: number, meanWaitS: number): Trial => ({
  ...{ price, isConfigured: price === 0.1, dollarsPerMonth: total * 4, meanWaitS, p95WaitS: 60 },
  ...{ over10s: 3, launches: 50, idleLaunches: 9, lostJobs: 0 },
  dollars: { tasks: total / 2, waiting: total / 2, failures: 0, total },
});

function suggestionOf(price: number, saved: number): Suggestion {
  const trials = [trial(0.05, 12, 9), trial(0.1, 10, 8), trial(0.2, 9, 4)];
  return {
    settings: { price, pools: [], maxTasks: 7, maxTasksUsed: 5, startTimeMs: undefined },
    ...{ yaml: `waiting:\n  person: ${price} # <b>`, trials, after: trial(price, 10 - saved, 4) },
    ...{ savedDollars: saved, isWorthIt: saved > 0.5 },
  };
}

const withSuggestion = (suggestion: Suggestion): Backtest => ({ ...BASE, suggestion });

it.each([
  {
    suggestion: suggestionOf(0.2, 1),
    says: 'Set waiting.person to 0.2 (now 0.1): saves $1.00 of tasks and waiting in 7 days (10%). Mean wait: 4 s instead of 8 s; tasks: $36.00 a month instead of $40.00.',
    name: 'names the price and what it saves',
  },
  {
    suggestion: suggestionOf(0.1, 2),
    says: 'Change the limits: saves $2.00 of tasks and waiting in 7 days (20%). Mean wait: 4 s instead of 8 s; tasks: $32.00 a month instead of $40.00.',
    name: 'names the limits if the price stays',
  },
  {
    suggestion: suggestionOf(0.1, 0.1),
    says: 'Keep your settings: no other price of waiting or limit saves more than 5%, and less is chance. Tried prices of waiting: $0.05, $0.20.',
    name: 'advises to keep the settings if the saving is chance',
  },
])('$name', ({ suggestion, says }) => {
  expect(adviceOf(BASE, suggestion)).toBe(says);
});

it('shows the advice between the headline and the figures, and the settings as text', () => {
  const report = renderReport(withSuggestion(suggestionOf(0.2, 1)));
  const order = ['<h1>', 'class="advice"', '<dl class="key">', '<pre>waiting:'].map((part) =>
    report.indexOf(part),
  );
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order[0]).toBeGreaterThan(0);
  expect(report).toContain('person: 0.2 # &#60;b&#62;');
});

it('shows no settings if they are not worth a change, and no section without suggestions', () => {
  expect(renderReport(withSuggestion(suggestionOf(0.1, 0.1)))).not.toContain('<pre>');
  expect(renderReport(BASE)).not.toContain('id="suggestion"');
});

browserTest('lists all tried prices and the suggested settings, and fits a phone', async () => {
  const { page, consoleMessages } = await open(withSuggestion(suggestionOf(0.2, 1)), PHONE);
  expect(valuesOf(await rowsOf(page, '#suggestion-table'))).toEqual([
    [6, 6, 12, 9, 60, 0],
    [5, 5, 10, 8, 60, 0],
    [4.5, 4.5, 9, 4, 60, 0],
    [4.5, 4.5, 9, 4, 60, 0],
  ]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  const hidden = `[...document.querySelectorAll('.wide:has(#suggestion-table)')].map((box) => box.scrollWidth - box.clientWidth)`;
  expect(await page.evaluate(hidden)).toEqual([0]);
  expect(consoleMessages).toEqual([]);
});
