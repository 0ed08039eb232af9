import { type Command, InvalidArgumentError } from 'commander';
import { loadDeployment } from '../lambda/config/load.ts';
import { configJsonSchema } from '../lambda/config/schema/settings.ts';
import { renderPrices } from './prices.ts';
import { type CommandContext, DEFAULT_CONFIG } from './shared/cli-environment.ts';
import { readConfig } from './shared/live.ts';

/** `autoscaler validate` */
export function addValidateCommand(program: Command, { cliEnvironment }: CommandContext): void {
  program
    .command('validate')
    .description('check a configuration file and estimate the cost of its pools')
    .argument('[file]', 'configuration file', DEFAULT_CONFIG)
    .option('--builds-per-day <n>', 'builds on a working day, for all pools together', parseBuilds)
    .action((file: string, { buildsPerDay }: { buildsPerDay?: number }) => {
      const { config } = readConfig(file, cliEnvironment, loadDeployment);
      const names = config.pools.map(({ name }) => name);
      const pools = names.length === 1 ? '1 pool' : `${names.length} pools`;
      cliEnvironment.out(`${file}: valid; ${pools}: ${names.join(', ')}\n\n`);
      cliEnvironment.out(`${renderPrices(config, buildsPerDay)}\n`);
    });
}

function parseBuilds(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number, 0 or more, such as 500.');
}

/** `autoscaler schema` */
export function addSchemaCommand(program: Command, { cliEnvironment }: CommandContext): void {
  program
    .command('schema')
    .description('print the JSON Schema of the configuration')
    .action(() => cliEnvironment.out(`${JSON.stringify(configJsonSchema(), null, 2)}\n`));
}
