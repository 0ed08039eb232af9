/** The script of the page. It replaces the static pictures with interactive charts. */
import type { Backtest } from '../../replay/result.ts';
import { paretoOption } from '../charts/pareto.ts';
import { waitSharesOption } from '../charts/wait-shares.ts';
import { byId, liveChart } from './live-chart.ts';
import { showPools } from './pools.ts';

const backtest: Backtest = JSON.parse(byId('backtest').textContent ?? '');

showCosts();
if (backtest.runs.some(({ pools }) => pools.length > 0)) showPools(backtest);
liveChart('wait-shares', 225).show(() => waitSharesOption(backtest));

function showCosts(): void {
  const [p95, mean] = [liveChart('pareto-p95', 280), liveChart('pareto-mean', 280)];
  const choice = byId('pareto-cost');
  const draw = (): void => {
    const cost =
      choice.querySelector<HTMLInputElement>('input:checked')?.value === 'hours' ? 'hours' : 'dollars';
    p95.show((size) => paretoOption(backtest, { cost, wait: 'p95' }, size));
    mean.show((size) => paretoOption(backtest, { cost, wait: 'mean' }, size));
  };
  choice.addEventListener('change', draw);
  draw();
}
