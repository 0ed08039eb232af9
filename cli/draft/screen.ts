/** What `autoscaler setup --draft` prints: the pools, what they do not cover, and what to do next. */
import { some, tagText } from '../../lambda/explain/format.ts';
import { DEFAULT_CONFIG } from '../shared/cli-environment.ts';
import { foldCommand, plainTable, wrapLines } from '../shared/plain-table.ts';
import { shellLine } from '../shared/shell-words.ts';
import type { DraftResult } from './result.ts';

/** `columns`: of the terminal. */
export function screen(result: DraftResult, columns: number | undefined): string {
  const { file, coderd, pools } = result;
  const [argument, option, context] =
    file === DEFAULT_CONFIG ? [[], [], []] : [[file], ['--config', file], ['-c', `config=${file}`]];
  const wrapped = (text: string): string => wrapLines(text, columns);
  return [
    wrapped(`coderd: ${coderd.url}, ${coderd.version}; the token's user is "${coderd.user}"`),
    wrapped(`${file}: written, with ${some(pools.length, 'pool')}`),
    '',
    wrapped(poolsText(result)),
    '',
    wrapped(beforeCommands(result)),
    '',
    ...(result.commands.length === 0 ? [] : [foldCommand(result.commands.join('\n'), columns), '']),
    'Then (docs/deploy.md; bootstrap once for each account and Region):',
    `  ${shellLine(['npx', 'autoscaler', 'validate', ...argument])}`,
    `  ${shellLine(['npx', 'autoscaler', 'doctor', ...option])}`,
    `  ${shellLine(['npx', 'cdk', 'bootstrap', ...context])}`,
    `  ${shellLine(['npx', 'cdk', 'deploy', ...context])}`,
    '',
    wrapped(firstDeployment(result)),
    '',
  ].join('\n');
}

export function poolsText(result: DraftResult): string {
  return [poolTable(result), '', 'Not covered:', ...result.notes.map((note) => `  - ${note}`)].join('\n');
}

function poolTable({ pools }: DraftResult): string {
  const columns = ['pool', 'organization', 'tags', 'templates'] as const;
  return plainTable(
    columns.map((head) => ({ head, align: 'left' })),
    pools.map(({ name, organization, tags, templates }) => [
      name,
      organization,
      tagText(tags),
      templates.length === 0 ? '(none yet)' : String(templates.length),
    ]),
  );
}

function beforeCommands({ commands, secretsError, uncheckedSecrets }: DraftResult): string {
  if (commands.length === 0) return 'Every secret exists. autoscaler doctor checks what is in it.';
  const unchecked =
    secretsError === undefined
      ? `Could not read ${uncheckedSecrets.join(', ')}. Leave out the commands for what exists.`
      : `Not checked which secrets exist: ${secretsError}. Leave out the commands for what exists.`;
  return [
    'Create what is missing: autoscaler setup does it, or run this, signed in to coder as an owner, and to aws:',
    ...(secretsError === undefined && uncheckedSecrets.length === 0 ? [] : [unchecked]),
  ].join('\n');
}

/** docs/internals/aws.md §7. */
function firstDeployment({ firstDeployment: { tasks, vcpu } }: DraftResult): string {
  const started = tasks === 1 ? '1 task' : `${tasks} tasks, one for each pool`;
  return `The first deployment starts ${started}, ${vcpu} vCPU together, with min: 0 too: ECS creates a service with a desired count of 1. Spare tasks drain within minutes. A new AWS account may run 6 vCPU on Fargate.`;
}
