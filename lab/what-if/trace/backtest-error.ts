/** A backtest cannot run with its input: a scenario, a policy, a pool or a region is unknown. */
export class BacktestError extends Error {
  override readonly name = 'BacktestError';
}
