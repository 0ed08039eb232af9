/** Reads the trace and the configuration of a backtest, from files or from a scenario. */
import { configFileOf, SCENARIOS } from '../../backtest/scenarios/index.ts';
import { readTraceFile } from '../../backtest/trace/file.ts';
import { generateTrace } from '../../backtest/trace/generate/generate.ts';
import type { Trace } from '../../backtest/trace/trace.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { type CliEnvironment, DEFAULT_CONFIG, UsageError } from '../shared/cli-environment.ts';
import { readConfig } from '../shared/live-options.ts';
import { findScenario } from '../trace/generate.ts';

export type SubjectOptions = {
  readonly trace?: string;
  readonly scenario?: string;
  readonly days?: number;
  readonly config?: string;
  readonly seed: number;
  readonly skipBad: boolean;
};

export type Subject = {
  readonly trace: Trace;
  /** Number of invalid lines that were skipped. */
  readonly skipped: number;
  readonly config: Deployment;
  readonly configFile: string;
};

const DEFAULT_DAYS = 7;

/** A scenario ignores AUTOSCALER_CONFIG: its jobs have the tags of its own configuration. */
export const CONFIG_DESCRIPTION =
  "configuration file (default: AUTOSCALER_CONFIG, then autoscaler.yaml; with --scenario, the scenario's)";

/** Reads both and prints warnings. Throws UsageError, TraceError, ConfigError or InputError. */
export function readSubject(options: SubjectOptions, cliEnvironment: CliEnvironment): Subject {
  checkOptions(options);
  return options.scenario === undefined
    ? fromFiles(options, cliEnvironment)
    : fromScenario(options.scenario, options, cliEnvironment);
}

function checkOptions({ trace, scenario, days }: SubjectOptions): void {
  const names = SCENARIOS.map(({ name }) => name).join(', ');
  if (trace === undefined && scenario === undefined)
    throw new UsageError(
      `no trace given. Add --trace FILE (autoscaler trace export writes one), or try --scenario NAME: ${names}`,
    );
  if (trace !== undefined && scenario !== undefined)
    throw new UsageError('--trace and --scenario are both given. Use one of them');
  if (trace !== undefined && days !== undefined)
    throw new UsageError('--days needs --scenario: a trace from a file has its own length');
}

function fromScenario(
  name: string,
  { seed, days = DEFAULT_DAYS, config: ownFile }: SubjectOptions,
  cliEnvironment: CliEnvironment,
): Subject {
  const scenario = findScenario(name);
  const configFile = ownFile ?? configFileOf(scenario);
  const { config } = readConfig(configFile, cliEnvironment);
  return { trace: generateTrace(scenario, { seed, days }), skipped: 0, config, configFile };
}

function fromFiles(
  { trace: file = '-', config: ownFile, skipBad }: SubjectOptions,
  cliEnvironment: CliEnvironment,
): Subject {
  const configFile = ownFile ?? (cliEnvironment.environment.AUTOSCALER_CONFIG || DEFAULT_CONFIG);
  const { config } = readConfig(configFile, cliEnvironment);
  const { trace, skipped, remarks } = readTraceFile(file, { skipBad });
  for (const remark of remarks) cliEnvironment.err(`${file}: warning: ${remark}\n`);
  return { trace, skipped, config, configFile };
}
