/** `autoscaler trace generate`: standard output has the trace only, so that you can pipe it. */
import type { Command } from 'commander';
import { type CommandContext, UsageError } from '../../../../cli/shared/cli-environment.ts';
import { countTo } from '../../../../cli/shared/option-values.ts';
import { nearestName } from '../../../../lambda/config/schema/names.ts';
import { wholeNumber } from '../../../world/base/whole-number.ts';
import { SCENARIOS } from '../../scenarios/index.ts';
import { generateTrace } from '../../trace/generate/generate.ts';
import type { Scenario } from '../../trace/generate/scenario.ts';
import { checkSummaryPlace, deliver } from './deliver.ts';
import { checkWritable } from './whole-file.ts';

type GenerateOptions = {
  readonly scenario?: string;
  readonly seed: number;
  readonly days: number;
  readonly out: string;
  readonly json: boolean;
};

export const MOST_DAYS = 366;
const NAMES = SCENARIOS.map(({ name }) => name).join(', ');

export function addTraceGenerateCommand(trace: Command, { cliEnvironment }: CommandContext): void {
  trace
    .command('generate')
    .description('generate the trace of a fictional deployment')
    .option('--scenario <name>', `name of the deployment: ${NAMES} (required)`)
    .option('--seed <number>', 'the same seed gives the same trace', wholeNumber, 1)
    .option('--days <number>', 'length of the trace in days', countTo(MOST_DAYS), 7)
    .option('--out <file>', 'output file; - for standard output', '-')
    .option('--json', 'with --out, print the summary as one JSON document', false)
    .action((options: GenerateOptions) => {
      const { seed, out } = options;
      const scenario = findScenario(options.scenario);
      checkSummaryPlace(options);
      if (out !== '-') checkWritable(out);
      const about = {
        note: `, seed ${seed}; made for ${scenario.config}`,
        fields: { seed, configuration: scenario.config },
      };
      deliver(generateTrace(scenario, options), options, about, cliEnvironment);
    });
}

/** Finds a scenario by name. Throws UsageError if the name is missing or unknown. */
export function findScenario(name: string | undefined): Scenario {
  if (name === undefined) throw new UsageError(`no scenario given. Add --scenario NAME: ${NAMES}`);
  const scenario = SCENARIOS.find((it) => it.name === name);
  if (scenario !== undefined) return scenario;
  const near = nearestName(
    name,
    SCENARIOS.map((it) => it.name),
  );
  const guess = near === undefined ? '' : `Did you mean "${near}"? `;
  throw new UsageError(`there is no scenario "${name}". ${guess}The scenarios are ${NAMES}`);
}
