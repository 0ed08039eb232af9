/** The one door from the command line to the laboratory. cli/program.ts opens it when one of these is asked for. */
export const addTraceCommand = async () => (await import('./what-if/cli/trace/command.ts')).addTraceCommand;
export const addBacktestCommand = async () =>
  (await import('./what-if/cli/backtest/command.ts')).addBacktestCommand;
