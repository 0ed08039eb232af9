/** `autoscaler init`: writes a first configuration from a live coderd. */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { ConfigError, formatProblem } from '../../lambda/config/problems/problems.ts';
import { readConfig } from '../../lambda/config/read.ts';
import { checkPoolCount, MOST_MANAGED, MOST_POOLS } from '../../lambda/config/rules/deployment-rules.ts';
import { makeClients } from '../../lambda/connect.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { whileWorking } from '../shared/activity.ts';
import {
  type CliEnvironment,
  type CommandContext,
  DEFAULT_CONFIG,
  InputError,
} from '../shared/cli-environment.ts';
import { withTokenOfShell } from '../shared/live.ts';
import { type Draft, draftPools, readBuilds } from './draft.ts';
import { answer, gatherInputs, type InitOptions } from './inputs.ts';
import { type InitResult, readSecretStates, resultOf, secretsOf } from './result.ts';
import { screen } from './screen.ts';
import { settingsText } from './settings-file.ts';
import { type Account, chooseOrganizations, readAccount, readTemplates, releaseOf } from './survey.ts';

export function addInitCommand(program: Command, { cliEnvironment }: CommandContext): void {
  program
    .command('init')
    .description(
      'write a first configuration from what coderd has, and print the commands that create missing secrets; asks for what you leave out. autoscaler setup runs it, and does the rest too',
    )
    .option('--url <url>', 'URL of coderd (default: CODER_URL)')
    .option(
      '--token-secret <name>',
      'secret with the API token (default: coder/autoscaler-token). CODER_SESSION_TOKEN replaces its value for this command',
    )
    .option('--organization <name...>', 'organizations to cover (default: all that coderd lists)')
    .option(
      '--key-prefix <path>',
      'use keys that you create and store at <path>/<pool> (default: key: managed, the stack makes the keys)',
    )
    .option('--proxy <url>', 'HTTP proxy to coderd')
    .option('--ca-bundle <file>', "PEM file, if your own CA signed coderd's certificate")
    .option(
      '--config <file>',
      'configuration file to write; an existing file is never overwritten',
      DEFAULT_CONFIG,
    )
    .option('--json', 'print the result as one JSON document', false)
    .action(async (options: InitOptions) => {
      const result = await init(options, cliEnvironment);
      cliEnvironment.out(
        options.json ? `${JSON.stringify(result, null, 2)}\n` : screen(result, cliEnvironment.columns),
      );
    });
}

export async function init(options: InitOptions, cliEnvironment: CliEnvironment): Promise<InitResult> {
  refuseExisting(options.config);
  const inputs = await gatherInputs(options, cliEnvironment);
  const { coder } = inputs;
  const clients = makeClients({ coder }, inputs.caBundle, { wholeMs: ANSWER_MS });
  const coderd = withTokenOfShell(clients.coderd, cliEnvironment);
  const hasToken = coderd !== clients.coderd;
  try {
    const whose = hasToken ? 'the token in CODER_SESSION_TOKEN' : "the secret's token";
    const account = await readAccount(coderd, { whose });
    const draft = await surveyCoderd({ coderd, account, options, cliEnvironment });
    const image = imageOf(account);
    const schema = schemaBeside(options.config);
    write(options.config, settingsText({ draft, coder, image, schema }), cliEnvironment);
    const states = await readSecretStates(clients.secrets, secretsOf(coder, draft));
    return resultOf({ file: options.config, coder, hasToken }, account, draft, states);
  } finally {
    await clients.close();
  }
}

async function surveyCoderd(given: {
  readonly coderd: CoderdHttp;
  readonly account: Account;
  readonly options: InitOptions;
  readonly cliEnvironment: CliEnvironment;
}): Promise<Draft> {
  const { coderd, account, options, cliEnvironment } = given;
  const named = options.organization ?? (await askOrganizations(account, cliEnvironment));
  const organizations = chooseOrganizations(account, named);
  const read = async () => {
    const surveyed = await readTemplates(coderd, organizations);
    return { surveyed, builds: await readBuilds(coderd, organizations, cliEnvironment.now()) };
  };
  const doing = 'reading templates and workspaces from coderd';
  const { surveyed, builds } = await whileWorking(doing, cliEnvironment, read);
  const { keyPrefix } = options;
  const most = keyPrefix === undefined ? MOST_MANAGED : MOST_POOLS;
  const draft = draftPools(surveyed, builds, { keyPrefix, most });
  refuseEmpty(draft);
  return draft;
}

function refuseEmpty({ pools, notes }: Draft): void {
  if (pools.length > 0) return;
  const why = notes.map((note) => `  - ${note}`).join('\n');
  throw new InputError(`making pools: no template has tags that a pool can have\n${why}`);
}

/** A person waits at the terminal. */
const ANSWER_MS = 10_000;

async function askOrganizations(
  { organizations }: Account,
  { ask }: CliEnvironment,
): Promise<readonly string[]> {
  if (ask === undefined || organizations.length < 2) return [];
  const names = organizations.map(({ name }) => name).sort();
  const said = await answer(ask, `Organizations, separated by commas`, names.join(','));
  return (said ?? '').split(',').flatMap((name) => name.trim() || []);
}

const refuseExisting = (file: string): void => {
  if (existsSync(file)) throw overwriting(file);
};

const overwriting = (file: string, cause?: unknown): InputError =>
  new InputError(
    `writing ${file}: it exists, and init never overwrites a file. Name another one with --config, or move it away`,
    { cause },
  );

function imageOf({ version }: Account): string | undefined {
  const release = releaseOf(version);
  return release === undefined ? undefined : `ghcr.io/coder/coder:${release}`;
}

const SCHEMA = 'autoscaler.schema.json';

const schemaBeside = (file: string): string | undefined =>
  existsSync(join(dirname(file), SCHEMA)) ? `./${SCHEMA}` : undefined;

/** Writes only what `autoscaler validate` accepts. Throws InputError. */
function write(file: string, text: string, { err }: CliEnvironment): void {
  try {
    const { warnings } = readConfig(text, file, checkPoolCount);
    for (const warning of warnings) err(`${formatProblem(warning)}\n`);
    writeFileSync(file, text, { flag: 'wx' });
  } catch (cause) {
    if (cause instanceof ConfigError)
      throw new InputError(
        `writing ${file}: coderd has tags or names that no pool can have. Leave the organization out with --organization, or write the file by hand:\n${cause.message}`,
        { cause },
      );
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw overwriting(file, cause);
    throw new InputError(`writing ${file}: ${messageOf(cause)}. Name another file with --config`, { cause });
  }
}
