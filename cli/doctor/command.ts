/** `autoscaler doctor`: checks everything between this machine, coderd and AWS. */
import type { Command } from 'commander';
import { type LoadedConfig, loadConfig } from '../../lambda/config/load.ts';
import { ConfigError, formatProblem } from '../../lambda/config/problems/problems.ts';
import { makeClients } from '../../lambda/connect.ts';
import { some } from '../../lambda/explain/format.ts';
import { whileWorking } from '../shared/activity.ts';
import type { CliEnvironment, CommandContext } from '../shared/cli-environment.ts';
import { type LiveOptions, withJsonOption, withLiveOptions } from '../shared/live-options.ts';
import { wrapLines } from '../shared/plain-table.ts';
import { findCluster } from '../shared/stack-cluster.ts';
import { type Check, type Checked, checksText, fail, ok, skip, warn } from './check/check.ts';
import { checkAll } from './diagnosis.ts';

const CONFIGURATION = 'configuration';
/** With the start of the command this makes fewer than ten seconds. */
const ANSWER_MS = 7_500;

export function addDoctorCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withJsonOption(withLiveOptions(program.command('doctor')), 'the checks')
    .description(
      'check configuration, coderd, token, licence, keys, key function, secrets and ECS services; every failed check tells you how to fix it',
    )
    .option(
      '--deep',
      'also compare the answers that the autoscaler reads with those of tested releases of coderd (fewer than 70 requests)',
      false,
    )
    .action(async (options: CheckOptions) => exitWith(await printChecks(options, cliEnvironment)));
}

type CheckOptions = LiveOptions & { readonly json: boolean; readonly deep?: boolean };

/** Checks the configuration, then the rest. Returns the exit code: 1 if a check has failed. */
async function printChecks(options: CheckOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const work = () => diagnose(options, cliEnvironment);
  const checks = await whileWorking('checking coderd and AWS', cliEnvironment, work);
  cliEnvironment.out(
    options.json
      ? `${JSON.stringify({ version: 1, checks }, null, 2)}\n`
      : wrapLines(checksText(checks), cliEnvironment.columns),
  );
  return checks.some(({ status }) => status === 'FAIL') ? 1 : 0;
}

export async function diagnose(
  options: CheckOptions,
  cliEnvironment: CliEnvironment,
): Promise<readonly Check[]> {
  const loaded = checkConfiguration(options.config);
  if ('blocker' in loaded) return [...loaded.checks, skip('everything else', loaded.blocker)];
  const { config, caBundle } = loaded.value;
  const until = AbortSignal.timeout(cliEnvironment.answerMs ?? ANSWER_MS);
  const clients = makeClients(config, caBundle, { until });
  // the questions of --deep take longer, and stop at the first one without an answer
  const deep = options.deep ? makeClients(config, caBundle) : undefined;
  try {
    const found = await findCluster(options, cliEnvironment, config);
    const deepHttp = deep?.coderd;
    const context = { config, clients, found, cliEnvironment, until, deepHttp, caBundle };
    return [...loaded.checks, ...(await checkAll(context))];
  } finally {
    await Promise.all([clients.close(), deep?.close()]);
  }
}

function checkConfiguration(file: string): Checked<LoadedConfig> {
  try {
    const value = loadConfig(file);
    const warnings = value.warnings.map((problem) => warn(CONFIGURATION, formatProblem(problem)));
    const fine = ok(CONFIGURATION, `${file}, ${some(value.config.pools.length, 'pool')}`);
    return { checks: warnings.length > 0 ? warnings : [fine], value };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const checks = cause.problems.map((problem) => fail(CONFIGURATION, formatProblem(problem)));
    return { checks, blocker: CONFIGURATION };
  }
}
