/** `autoscaler setup`: from nothing to a checked deployment, one step after the other. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { type LoadedConfig, loadDeployment } from '../../lambda/config/load.ts';
import { ConfigError } from '../../lambda/config/problems/problems.ts';
import { ownValue } from '../../lambda/decision/model/collections.ts';
import type { DraftOptions } from '../draft/inputs.ts';
import { printDraft } from '../draft/write.ts';
import { whileWorking } from '../shared/activity.ts';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from '../shared/cli-environment.ts';
import { costsOf } from '../shared/cost-text.ts';
import { withConfigOption } from '../shared/live-options.ts';
import { countTo } from '../shared/option-values.ts';
import { shellLine } from '../shared/shell-words.ts';
import { act, type Hands } from './acts.ts';
import { AwsSide } from './aws-side.ts';
import { CoderSide, findSession, withoutSlash } from './coder-side.ts';
import { type Answer, takeSteps } from './run.ts';
import { endText, outcomeText, scriptText, sidesText, stepText, wrapped } from './screen.ts';
import { accountsOf, QUOTAS, type Seen, type Situation, storedKeys, valueIn } from './situation.ts';
import { planSteps, STEP_IDS, type Step, type StepId } from './steps.ts';

type SetupOptions = DraftOptions & {
  readonly draft: boolean;
  readonly buildsPerDay?: number;
  readonly skip: readonly StepId[];
  readonly print: boolean;
  readonly yes: boolean;
};

export function addSetupCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withConfigOption(
    program
      .command('setup')
      .description(
        'set up a deployment step by step: configuration, users and tokens in Coder, secrets, quota, checks, costs, and the command that deploys. Says what each step does and asks first; finds what exists',
      ),
  )
    .option('--url <url>', 'URL of coderd (default: CODER_URL, then that of coder login)')
    .option('--organization <name...>', 'organizations to cover in a new configuration (default: all)')
    .option(
      '--stack <name>',
      'CloudFormation stack of a new configuration, for a cluster of its own (default: CoderProvisionerAutoscaler)',
    )
    .option(
      '--builds-per-day <n>',
      'builds on a working day, for the costs (default: the last 7 days)',
      countTo(1e6),
    )
    .addOption(new Option('--skip <step...>', 'steps to leave out').choices(STEP_IDS).default([], 'none'))
    .option('--print', 'print the commands of all steps as a script, and change nothing', false)
    .option('--yes', 'ask nothing, and take the default of each question: yes, but do not deploy', false)
    .option('--json', 'print the result as one JSON document (with --yes, --print or --draft)', false)
    .addOption(
      new Option(
        '--draft',
        'write a first configuration from what coderd has, and nothing else. Needs no AWS',
      )
        .default(false)
        .conflicts(['print', 'skip', 'buildsPerDay']),
    )
    .option(
      '--token-secret <name>',
      'with --draft: secret with the API token (default: coder/autoscaler-token). CODER_SESSION_TOKEN replaces its value for this command',
    )
    .option(
      '--key-prefix <path>',
      'with --draft: use keys that you create and store at <path>/<pool> (default: key: managed, the stack makes the keys)',
    )
    .option('--proxy <url>', 'with --draft: HTTP proxy to coderd')
    .option('--ca-bundle <file>', "with --draft: PEM file, if your own CA signed coderd's certificate")
    .action(async (options: SetupOptions) => {
      if (options.draft) await printDraft(options, cliEnvironment);
      else exitWith(await setup(options, cliEnvironment));
    });
}

/** Returns the exit code: 1 if a step is left that was not skipped. */
async function setup(options: SetupOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const { print, yes, json, tokenSecret, keyPrefix, proxy, caBundle } = options;
  if ([tokenSecret, keyPrefix, proxy, caBundle].some((given) => given !== undefined))
    throw new UsageError('--token-secret, --key-prefix, --proxy and --ca-bundle need --draft');
  const { ask, out, err, columns } = cliEnvironment;
  if (!print && !yes && ask === undefined)
    throw new UsageError(
      'setup asks before each step, and there is no terminal. Add --print to see the commands, or --yes to take every default',
    );
  if (json && !print && !yes) throw new UsageError('--json asks nothing. Add --yes or --print');
  const say = (text: string): void => (json ? err : out)(wrapped(text, columns));
  const eyes = openEyes(options, cliEnvironment);
  const look = (): Promise<Situation> =>
    whileWorking('looking at coderd and AWS', cliEnvironment, () =>
      lookAround(options, eyes, cliEnvironment),
    );
  try {
    const first = await look();
    if (print) {
      const steps = planSteps(first);
      const rows = steps.map((step) => rowOf(step, step.state));
      out(json ? documentOf(first, rows) : scriptText(first, steps, columns));
      return 0;
    }
    say(sidesText(first));
    let latest = first;
    const hands = { ...eyes, cliEnvironment, say, run: cliEnvironment.run ?? runnerWith(json) };
    const outcomes = await takeSteps({
      look: async () => {
        latest = await look();
        return latest;
      },
      act: (step, situation) => act(step, situation, hands),
      announce: (step, number) => say(stepText(step, number)),
      ask: (step) => (yes || ask === undefined ? defaultOf(step) : askAbout(step, ask, say)),
      report: (outcome) => say(outcomeText(outcome)),
      skip: options.skip,
    });
    const end = endText(outcomes);
    if (end !== '') say(outcomes.at(-1)?.step.state === 'todo' ? end : `\n${end}`);
    const rows = outcomes.map(({ step, result, says }) => rowOf({ ...step, says }, result));
    if (json) out(documentOf(latest, rows));
    return outcomes.every(({ result }) => ['found', 'done', 'skipped'].includes(result)) ? 0 : 1;
  } finally {
    eyes.aws.close();
    await eyes.coder?.close();
  }
}

type Eyes = Pick<Hands, 'session' | 'coder' | 'aws'> & { readonly problem: string };

/** A configuration may name a proxy and a CA bundle, without which coderd cannot be reached. */
function openEyes({ config, url }: SetupOptions, { environment }: CliEnvironment): Eyes {
  const loaded = loadIfThere(config);
  const known = typeof loaded === 'object' && 'value' in loaded ? loaded.value : undefined;
  const configured = known?.config.coder.url;
  if (url !== undefined && configured !== undefined && withoutSlash(url) !== configured)
    throw new UsageError(
      `--url is ${url}, but ${config} has coder.url: ${configured}. Leave out --url, or change the file`,
    );
  const found = findSession(url ?? configured, environment);
  const aws = new AwsSide();
  if ('problem' in found) return { session: undefined, coder: undefined, aws, problem: found.problem };
  const tls = { proxy: known?.config.coder.proxy, caBundle: known?.caBundle };
  const session = configured === undefined ? found.value : { ...found.value, from: 'coder.url' };
  return { session, coder: new CoderSide(session, tls), aws, problem: '' };
}

function loadIfThere(file: string): Seen<LoadedConfig> | 'missing' {
  if (!existsSync(file)) return 'missing';
  try {
    return { value: loadDeployment(file) };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    return { problem: cause.message };
  }
}

async function lookAround(
  options: SetupOptions,
  { session, coder, aws, problem }: Eyes,
  { now, environment }: CliEnvironment,
): Promise<Situation> {
  const { config: file, url, organization: named = [], stack } = options;
  const loaded = loadIfThere(file);
  const config = loaded === 'missing' || 'problem' in loaded ? loaded : { value: loaded.value.config };
  const unseen: Situation = {
    file,
    config,
    ...{ named, stack },
    hasApp: existsSync('cdk.json'),
    lacksCdk: existsSync('infra/app.ts') && !existsSync('node_modules/.bin/cdk'),
    url: session?.url ?? (url || environment.CODER_URL || undefined),
    coder: { problem },
    aws: { problem },
    buildsPerDay: options.buildsPerDay,
  };
  const accounts = accountsOf(unseen);
  const deployment = valueIn(config);
  const wanted = {
    secrets: [...accounts, ...storedKeys(deployment)].map(({ secret }) => secret),
    quotas: QUOTAS.map(({ code }) => code),
    stack: deployment?.aws.stack ?? '',
  };
  const [inCoder, inAws] = await Promise.all([
    coder?.look(
      accounts.map(({ user }) => user),
      now(),
    ) ?? unseen.coder,
    aws.look(wanted),
  ]);
  const buildsPerDay = options.buildsPerDay ?? valueIn(inCoder)?.buildsPerDay;
  return { ...unseen, coder: inCoder, aws: inAws, buildsPerDay };
}

const defaultOf = async ({ asks }: Step): Promise<Answer> => (asks === 'no' ? 'no' : 'yes');

const ANSWERS: Readonly<Record<string, Answer>> = {
  y: 'yes',
  yes: 'yes',
  n: 'no',
  no: 'no',
  s: 'no',
  skip: 'no',
  q: 'quit',
  quit: 'quit',
};

async function askAbout(
  step: Step,
  ask: (question: string) => Promise<string>,
  say: (text: string) => void,
): Promise<Answer> {
  const question = step.asks === 'no' ? '  Run it now? [y/N/q] ' : '  Do it? [Y/n/q] ';
  for (;;) {
    const said = (await ask(question).catch((cause: unknown) => endOfInput(cause, say))).trim().toLowerCase();
    const answer = said === '' ? await defaultOf(step) : ownValue(ANSWERS, said);
    if (answer !== undefined) return answer;
    say('  Type y (do it), n (skip this step) or q (quit; setup goes on here next time).\n');
  }
}

/** Ctrl-C or Ctrl-D at a question. */
function endOfInput(cause: unknown, say: (text: string) => void): string {
  if (!(cause instanceof UsageError)) throw cause;
  say('\n');
  return 'q';
}

/** Runs a command with this terminal. Standard output is kept free for a JSON document. */
function runnerWith(isJson: boolean): Hands['run'] {
  return ([file = '', ...words]) =>
    new Promise((resolve, reject) => {
      const child = spawn(file, words, {
        stdio: ['inherit', isJson ? process.stderr : 'inherit', 'inherit'],
      });
      child.once('error', (cause) =>
        reject(new InputError(`running ${shellLine([file, ...words])}: ${cause.message}`, { cause })),
      );
      child.once('exit', (code) => resolve(code ?? 1));
    });
}

/** As `--json` prints it. */
function rowOf({ id, title, says, commands }: Step, result: string) {
  return { id, title, result, says, commands };
}

function documentOf(situation: Situation, steps: readonly object[]): string {
  const { file, coder, aws, buildsPerDay } = situation;
  const deployment = valueIn(situation.config);
  const shown = {
    version: 1,
    file,
    coder: 'problem' in coder ? coder : pick(coder.value, 'url', 'version', 'user', 'isOwner'),
    aws: 'problem' in aws ? aws : pick(aws.value, 'account', 'region', 'caller'),
    steps,
    dollarsPerMonth: deployment === undefined ? null : costsOf(deployment, buildsPerDay),
  };
  return `${JSON.stringify(shown, null, 2)}\n`;
}

const pick = <T extends object>(value: T, ...names: readonly (keyof T)[]) =>
  Object.fromEntries(names.map((name) => [name, value[name]]));
