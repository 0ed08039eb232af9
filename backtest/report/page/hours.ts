/** Tooltips of the week pictures: the figures of the hour under the pointer. */
import type { Backtest } from '../../replay/result.ts';
import { jobsLabel, seconds } from '../parts/numbers.ts';
import { hourOfWeekLabel } from '../parts/times.ts';
import { element } from './elements.ts';

export function addHourTooltips(backtest: Backtest): void {
  const tip = element('div', '');
  tip.className = 'tip hour-tip';
  tip.hidden = true;
  document.body.append(tip);
  document.addEventListener('pointerover', ({ target }) => {
    const text = target instanceof Element ? textOf(backtest, target) : undefined;
    tip.hidden = text === undefined;
    tip.textContent = text ?? '';
    if (target instanceof Element && text !== undefined) placeBy(tip, target.getBoundingClientRect());
  });
}

function textOf({ runs }: Backtest, target: Element): string | undefined {
  const picture = target.closest<HTMLElement>('.hours');
  if (picture === null || !(target instanceof HTMLElement) || target.tagName !== 'I') return undefined;
  const hour = [...picture.querySelectorAll('i')].indexOf(target);
  const { of } = picture.dataset;
  const week = runs[of === 'jobs' ? 0 : Number(of)]?.hoursOfWeekUtc;
  const [jobs = 0, wait = 0] = [week?.jobs[hour], week?.meanWaitS[hour]];
  const figures = [jobsLabel(jobs), ...(of === 'jobs' || jobs === 0 ? [] : [`${seconds(wait)} on average`])];
  return `${hourOfWeekLabel(hour)}: ${figures.join(', ')}`;
}

/** Above the hour and inside the window. */
function placeBy(tip: HTMLElement, { left, top, width }: DOMRect): void {
  const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(most, left + width / 2 - tip.offsetWidth / 2))}px`;
  tip.style.top = `${top - tip.offsetHeight - 6}px`;
}
