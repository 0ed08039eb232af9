import type { Command } from 'commander';
import { loadDeployment } from '../lambda/adapters/config/load.ts';
import { configJsonSchema } from '../lambda/adapters/config/settings.ts';
import { readConfig } from './live.ts';
import { type CommandContext, DEFAULT_CONFIG } from './surroundings.ts';

/** `autoscaler validate` */
export function addValidateCommand(program: Command, { surroundings }: CommandContext): void {
  program
    .command('validate')
    .description('check a configuration file')
    .argument('[file]', 'the configuration', DEFAULT_CONFIG)
    .action((file: string) => {
      const { pools } = readConfig(file, surroundings, loadDeployment).config;
      const names = pools.map(({ name }) => name).join(', ');
      surroundings.out(`${file}: valid; ${pools.length} pool${pools.length === 1 ? '' : 's'}: ${names}\n`);
    });
}

/** `autoscaler schema` */
export function addSchemaCommand(program: Command, { surroundings }: CommandContext): void {
  program
    .command('schema')
    .description('print the JSON Schema of the configuration')
    .action(() => surroundings.out(`${JSON.stringify(configJsonSchema(), null, 2)}\n`));
}
