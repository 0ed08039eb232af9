/** `autoscaler setup --draft`: writes a first configuration from a live coderd. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { ConfigError, formatProblem } from '../../lambda/config/problems/problems.ts';
import { readConfig } from '../../lambda/config/read.ts';
import { checkPoolCount, MOST_MANAGED, MOST_POOLS } from '../../lambda/config/rules/deployment-rules.ts';
import { makeClients } from '../../lambda/connect.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { writeFileWhole } from '../../lambda/shared/whole-file.ts';
import { whileWorking } from '../shared/activity.ts';
import { type CliEnvironment, InputError } from '../shared/cli-environment.ts';
import { withTokenOfShell } from '../shared/live.ts';
import { type Draft, draftPools, readBuilds } from './draft.ts';
import { type DraftOptions, gatherInputs } from './inputs.ts';
import { type DraftResult, screen } from './screen.ts';
import { settingsText } from './settings-file.ts';
import { type Account, chooseOrganizations, readAccount, readTemplates, releaseOf } from './survey.ts';

/** Prints what was written, and what to do next. */
export async function printDraft(options: DraftOptions, cliEnvironment: CliEnvironment): Promise<void> {
  const result = await writeDraft(options, cliEnvironment);
  cliEnvironment.out(
    options.json ? `${JSON.stringify(result, null, 2)}\n` : screen(result, cliEnvironment.columns),
  );
}

export async function writeDraft(
  options: DraftOptions,
  cliEnvironment: CliEnvironment,
): Promise<DraftResult> {
  refuseExisting(options.config);
  const { coder, caBundle } = gatherInputs(options, cliEnvironment);
  const clients = makeClients({ coder }, caBundle, { wholeMs: ANSWER_MS });
  const coderd = withTokenOfShell(clients.coderd, cliEnvironment);
  try {
    const whose = coderd === clients.coderd ? "the secret's token" : 'the token in CODER_SESSION_TOKEN';
    const account = await readAccount(coderd, { whose });
    const draft = await surveyCoderd({ coderd, account, options, cliEnvironment });
    const image = imageOf(account);
    const schema = schemaBeside(options.config);
    write(
      options.config,
      settingsText({ draft, coder, image, schema, stack: options.stack }),
      cliEnvironment,
    );
    const { version, user } = account;
    return {
      version: 1,
      file: options.config,
      coderd: { url: coder.url, version, user: user.name },
      pools: draft.pools,
      notes: [...(image === undefined ? [imageNote(version)] : []), ...draft.notes],
    };
  } finally {
    await clients.close();
  }
}

async function surveyCoderd(given: {
  readonly coderd: CoderdHttp;
  readonly account: Account;
  readonly options: DraftOptions;
  readonly cliEnvironment: CliEnvironment;
}): Promise<Draft> {
  const { coderd, account, options, cliEnvironment } = given;
  const organizations = chooseOrganizations(account, options.organization ?? []);
  const read = async () => {
    const surveyed = await readTemplates(coderd, organizations);
    return { surveyed, builds: await readBuilds(coderd, organizations, cliEnvironment.now()) };
  };
  const doing = 'reading templates and workspaces from coderd';
  const { surveyed, builds } = await whileWorking(doing, cliEnvironment, read);
  const { keyPrefix, stack } = options;
  const most = keyPrefix === undefined ? MOST_MANAGED : MOST_POOLS;
  const draft = draftPools(surveyed, builds, { keyPrefix, most, isOneOfSeveral: stack !== undefined });
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

const imageNote = (version: string): string =>
  `coderd's version ${version} is no release, so the pools have the default image. Set defaults.image to an image of your version`;

const refuseExisting = (file: string): void => {
  if (existsSync(file)) throw overwriting(file);
};

const overwriting = (file: string, cause?: unknown): InputError =>
  new InputError(
    `writing ${file}: it exists, and setup never overwrites a file. Name another one with --config, or move it away`,
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
    writeFileWhole(file, text, { isNew: true });
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
