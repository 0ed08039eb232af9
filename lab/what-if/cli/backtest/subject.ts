/** Reads the trace and the configuration of a backtest, from files or from a scenario. */

import { loadOf, ownDollars } from '../../../../cli/cost/cost.ts';
import { type CliEnvironment, DEFAULT_CONFIG, UsageError } from '../../../../cli/shared/cli-environment.ts';
import { readConfig } from '../../../../cli/shared/live-options.ts';
import type { Deployment } from '../../../../lambda/config/rules/deployment.ts';
import { DAY_MS } from '../../../../lambda/decision/model/units.ts';
import { configFileOf, SCENARIOS } from '../../scenarios/index.ts';
import { readTraceFile } from '../../trace/file.ts';
import { generateTrace } from '../../trace/generate/generate.ts';
import type { Trace } from '../../trace/trace.ts';
import { findScenario } from '../trace/generate.ts';

type TraceOptions = {
  readonly trace?: readonly string[];
  readonly scenario?: string;
  readonly days?: number;
  readonly seed: number;
  readonly skipBad: boolean;
};

export type SubjectOptions = TraceOptions & { readonly config?: string };

export type Subject = {
  readonly trace: Trace;
  readonly skipped: number;
  readonly config: Deployment;
  readonly configFile: string;
};

const DEFAULT_DAYS = 7;

/** A scenario ignores AUTOSCALER_CONFIG: its jobs have the tags of its own configuration. */
export const CONFIG_DESCRIPTION =
  "configuration file (default: AUTOSCALER_CONFIG, then autoscaler.yaml; with --scenario, the scenario's)";

/** Reads one trace and the configuration. Throws UsageError, TraceError, ConfigError or InputError. */
export function readSubject(options: SubjectOptions, cliEnvironment: CliEnvironment): Subject {
  if ((options.trace ?? []).length > 1)
    throw new UsageError('--trace is given twice: only a comparison (--before FILE) replays several traces');
  return readSubjects(options, cliEnvironment)[0];
}

/** Reads each trace, with one configuration for all, and prints warnings. Throws as `readSubject`. */
export function readSubjects(
  options: SubjectOptions,
  cliEnvironment: CliEnvironment,
): readonly [Subject, ...Subject[]] {
  checkOptions(options);
  const configFile = options.config ?? defaultConfig(options, cliEnvironment);
  const { config } = readConfig(configFile, cliEnvironment);
  const subjectOf = (file: string | undefined): Subject => ({
    ...readTrace(file, options, cliEnvironment),
    ...{ config, configFile },
  });
  const [first, ...others] = options.trace ?? [];
  return [subjectOf(first), ...others.map(subjectOf)];
}

function defaultConfig({ scenario }: SubjectOptions, { environment }: CliEnvironment): string {
  if (scenario !== undefined) return configFileOf(findScenario(scenario));
  return environment.AUTOSCALER_CONFIG || DEFAULT_CONFIG;
}

/** Reads or generates a trace and prints warnings. Throws UsageError or TraceError. */
function readTrace(
  file = '-',
  { scenario, seed, days = DEFAULT_DAYS, skipBad }: TraceOptions,
  cliEnvironment: CliEnvironment,
): Pick<Subject, 'trace' | 'skipped'> {
  if (scenario !== undefined)
    return { trace: generateTrace(findScenario(scenario), { seed, days }), skipped: 0 };
  const { trace, skipped, remarks } = readTraceFile(file, { skipBad });
  for (const remark of remarks) cliEnvironment.err(`${file}: warning: ${remark}\n`);
  return { trace, skipped };
}

function checkOptions({ trace, scenario, days }: TraceOptions): void {
  const names = SCENARIOS.map(({ name }) => name).join(', ');
  if (trace === undefined && scenario === undefined)
    throw new UsageError(
      `no trace given. Add --trace FILE (autoscaler trace export writes one), or try --scenario NAME: ${names}`,
    );
  if (trace !== undefined && scenario !== undefined)
    throw new UsageError('--trace and --scenario are both given. Use one of them');
  const twice = trace?.find((file, at) => trace.indexOf(file) < at);
  if (twice !== undefined) throw new UsageError(`--trace ${twice} is given twice. Name each trace once`);
  if (trace !== undefined && days !== undefined)
    throw new UsageError('--days needs --scenario: a trace from a file has its own length');
}

/** What the autoscaler itself costs a month. A week has five workdays. */
export function monthlyOwnDollars({ trace, config }: Pick<Subject, 'trace' | 'config'>): number {
  const perWorkday = (trace.jobs.length * DAY_MS * 7) / 5 / (trace.to - trace.from);
  return ownDollars(config, loadOf(config, perWorkday));
}
