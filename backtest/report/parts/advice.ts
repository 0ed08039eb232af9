/** What to change, and what that would have saved, in one or two sentences. */
import type { Backtest } from '../../replay/result.ts';
import type { Suggestion } from '../../replay/suggestion.ts';
import { dollars, seconds, share } from './numbers.ts';
import { lengthLabel } from './times.ts';

export function adviceOf(backtest: Backtest, suggestion: Suggestion): string {
  return suggestion.isWorthIt ? changeText(backtest, suggestion) : keepText(suggestion);
}

function changeText(backtest: Backtest, { settings, trials, after, savedDollars }: Suggestion): string {
  const before = trials.find(({ isConfigured }) => isConfigured) ?? after;
  const part = share(savedDollars / before.dollars.total);
  const what =
    settings.price === before.price
      ? 'Change the limits'
      : `Set waiting.person to ${settings.price} (now ${before.price})`;
  const wait = `Mean wait: ${seconds(after.meanWaitS)} instead of ${seconds(before.meanWaitS)}`;
  const cost = `tasks: ${dollars(after.dollarsPerMonth)} a month instead of ${dollars(before.dollarsPerMonth)}`;
  return `${what}: saves ${dollars(savedDollars)} of tasks and waiting in ${lengthLabel(backtest)} (${part}). ${wait}; ${cost}.`;
}

function keepText({ trials }: Suggestion): string {
  const others = trials.filter(({ isConfigured }) => !isConfigured).map(({ price }) => dollars(price));
  const tried = others.length === 0 ? '' : ` Tried prices of waiting: ${others.join(', ')}.`;
  return `Keep your settings: no other price of waiting or limit saves more than 5%, and less is chance.${tried}`;
}
