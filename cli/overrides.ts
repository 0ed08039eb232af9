/**
 * `autoscaler pause | resume | pin | unpin`: writes overrides as tags on the pool's ECS service
 * (docs/adr/0016). coderd may be down. The next look, within a minute, applies them.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EcsAdapter } from '../lambda/adapters/ecs/ecs.ts';
import { parseDuration } from '../lambda/config/schema/durations.ts';
import { makeClients } from '../lambda/connect.ts';
import { isoTime } from '../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../lambda/decision/model/config.ts';
import type { Override, OverrideKind } from '../lambda/decision/model/plan.ts';
import type { Service } from '../lambda/decision/model/snapshot.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lambda/decision/model/units.ts';
import { deriveOverrides, overrideTextProblem, tagKeysOf } from '../lambda/decision/settings/overrides.ts';
import { overrideText } from '../lambda/explain/reason-text.ts';
import { AwsCallError } from './adapters/aws-call-error.ts';
import { OverrideTags } from './adapters/override-tags.ts';
import { whileWorking } from './shared/activity.ts';
import { checkAwsSetup, withAdvice } from './shared/aws-advice.ts';
import { type CliEnvironment, type CommandContext, InputError } from './shared/cli-environment.ts';
import {
  type JsonOptions,
  type LiveOptions,
  readConfig,
  repeated,
  withJsonOption,
  withLiveOptions,
} from './shared/live-options.ts';
import { findPool, findService } from './shared/override-target.ts';
import { wrapLines } from './shared/plain-table.ts';
import { shellLine } from './shared/shell-words.ts';
import { clusterOf } from './shared/stack-cluster.ts';

type OverrideOptions = JsonOptions & {
  /** Milliseconds. */
  readonly for: number;
  readonly why: string;
  readonly by?: string;
};

export function addOverrideCommands(program: Command, { cliEnvironment }: CommandContext): void {
  const add = (name: string, description: string): Command =>
    withJsonOption(withLiveOptions(program.command(name)), 'the change')
      .description(description)
      .argument('<pool>', 'the name of the pool');
  withOverrideOptions(add('pause', 'stop launches and drains of a pool for a time; running builds continue'))
    .option('--scale-in', 'stop drains only: the pool still scales out', false)
    .action((pool: string, options: OverrideOptions & { readonly scaleIn: boolean }) =>
      onPool(pool, options, cliEnvironment, (target) => {
        const kind = options.scaleIn ? 'pause-scale-in' : 'pause';
        return set(target, { kind, ...detailsOf(options, cliEnvironment) });
      }),
    );
  add('resume', 'end the pause of a pool').action((pool: string, options: JsonOptions) =>
    onPool(pool, options, cliEnvironment, (target) => remove(target, ['pause'], 'paused')),
  );
  withOverrideOptions(
    add('pin', 'keep a pool at a number of tasks for a time; extra tasks drain when they are idle'),
  )
    .argument('<count>', 'number of tasks', parseCount)
    .option('--at-least', 'allow more tasks when jobs need them', false)
    .action((pool: string, count: number, options: OverrideOptions & { readonly atLeast: boolean }) =>
      onPool(pool, options, cliEnvironment, (target) => {
        checkCount(count, target.pool);
        const kind = options.atLeast ? 'floor' : 'pin';
        return set(target, { kind, count, ...detailsOf(options, cliEnvironment) });
      }),
    );
  add('unpin', 'end the pin of a pool, with or without --at-least').action(
    (pool: string, options: JsonOptions) =>
      onPool(pool, options, cliEnvironment, (target) => remove(target, ['pin', 'floor'], 'pinned')),
  );
}

/** What a command did, as data and as text. */
type Answer = {
  readonly set: Override | null;
  readonly ended: readonly Override[];
  readonly says: string;
};

type Target = {
  readonly pool: PoolConfig;
  readonly service: Service;
  readonly tags: OverrideTags;
  /** The overrides in force before this command. */
  readonly active: readonly Override[];
  readonly options: LiveOptions;
};

async function onPool(
  name: string,
  options: JsonOptions,
  cliEnvironment: CliEnvironment,
  act: (target: Target) => Promise<Answer>,
): Promise<void> {
  const { config, caBundle } = readConfig(options.config, cliEnvironment);
  const cluster = await clusterOf(options, cliEnvironment, config);
  const pool = findPool(name, config.pools);
  const clients = makeClients(config, caBundle);
  const work = async (): Promise<Answer> => {
    await checkAwsSetup(clients.ecs);
    const service = findService(name, await new EcsAdapter(clients.ecs, cluster).services());
    const { active } = deriveOverrides(service, cliEnvironment.now());
    return act({ pool, service, tags: new OverrideTags(clients.ecs), active, options });
  };
  try {
    const answer = await whileWorking('changing the tags of the ECS service', cliEnvironment, work);
    const text = options.json
      ? JSON.stringify({ version: 1, pool: name, ...answer }, null, 2)
      : wrapLines(answer.says, cliEnvironment.columns);
    cliEnvironment.out(`${text}\n`);
  } catch (cause) {
    if (!(cause instanceof AwsCallError)) throw cause;
    throw new InputError(withAdvice(cause.message), { cause });
  } finally {
    await clients.close();
  }
}

async function set({ pool, service, tags, active, options }: Target, override: Override): Promise<Answer> {
  await tags.write(service.serviceArn, override);
  const undo = shellLine(['autoscaler', UNDOING[override.kind], pool.name, ...repeated(options)]);
  const says = `pool "${pool.name}": ${overrideText(override)}\nUndo it with: ${undo}${precedence(override, active)}`;
  return { set: override, ended: [], says };
}

/** The command that undoes each kind of override. */
const UNDOING: Readonly<Record<OverrideKind, 'resume' | 'unpin'>> = {
  pause: 'resume',
  'pause-scale-in': 'resume',
  pin: 'unpin',
  floor: 'unpin',
};

/** Names the stronger override, because a weaker one has no effect while it lasts. */
function precedence({ kind }: Override, active: readonly Override[]): string {
  const above = active.find((it) => RANK[it.kind] < RANK[kind]);
  return above === undefined
    ? ''
    : `\nIt has no effect while the pool has a stronger override: ${overrideText(above)}`;
}

/** The lowest rank wins. `pause-scale-in` works together with the others. */
const RANK: Readonly<Record<OverrideKind, number>> = { pause: 0, pin: 1, floor: 2, 'pause-scale-in': 0 };

async function remove(
  { pool, service, tags, active }: Target,
  kinds: readonly OverrideKind[],
  state: 'paused' | 'pinned',
): Promise<Answer> {
  const keys = new Set(kinds.flatMap(tagKeysOf));
  const isTagged = service.tags.some(({ key }) => keys.has(key));
  const ended = active.filter(({ kind }) => kinds.some((it) => UNDOING[it] === UNDOING[kind]));
  if (isTagged) await tags.remove(service.serviceArn, kinds);
  // a list of ECS may be some seconds old
  const note = isTagged
    ? 'Removed the tags of an expired or invalid override'
    : `Its ECS service has no such tags. If it was ${state} in the last minute, try again in a minute`;
  const lines = ended.map((it) => `pool "${pool.name}": ended this override: ${overrideText(it)}`);
  const says = lines.length === 0 ? `pool "${pool.name}" is not ${state}. ${note}` : lines.join('\n');
  return { set: null, ended, says };
}

function checkCount(count: number, { name, max, retiring }: PoolConfig): void {
  if (retiring)
    throw new InputError(
      `pinning pool "${name}" to ${count}: the pool is retiring and launches nothing. Remove "retiring" from the configuration first`,
    );
  if (count > max)
    throw new InputError(
      `pinning pool "${name}" to ${count}: its max is ${max}. Pin it to ${max} or less, or raise max in the configuration`,
    );
}

/** Throws InvalidArgumentError; commander adds the argument's name. */
function parseCount(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number of tasks.');
}

const SHORTEST_MS = MINUTE_MS;
/** Longer changes belong into the configuration. */
const LONGEST_MS = 30 * DAY_MS;

/** Adds `--for`, `--why` and `--by`. */
function withOverrideOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--for <duration>', 'duration of the override: 1m to 720h')
        .argParser(parseLength)
        .default(HOUR_MS, '1h'),
    )
    .requiredOption('--why <text>', 'the reason, shown to everyone', parseText)
    .option('--by <name>', 'who sets the override (default: USER)', parseText);
}

/** End, author and reason of the override, as its tags have them. */
function detailsOf(
  { for: lengthMs, why, by }: OverrideOptions,
  { environment, now }: CliEnvironment,
): Pick<Override, 'until' | 'by' | 'why'> {
  return {
    until: isoTime(now() + lengthMs),
    why,
    by: by ?? tagName(environment.USER ?? environment.USERNAME),
  };
}

/** The user's name, with `-` for characters that a tag does not allow. */
function tagName(name = ''): string {
  const kept = [...name].map((character) => (overrideTextProblem(character) === undefined ? character : '-'));
  return kept.join('').slice(0, 100) || 'somebody';
}

/** Throws InvalidArgumentError; commander adds the option's name. */
function parseLength(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError('Write a whole number and its unit, s, m or h: 90m, 8h.');
  if (ms < SHORTEST_MS || ms > LONGEST_MS)
    throw new InvalidArgumentError(
      'Allowed: 1m to 720h (30 days). Put longer changes into the configuration.',
    );
  return ms;
}

function parseText(text: string): string {
  if (text.trim() === '')
    throw new InvalidArgumentError('It is empty. Write a text that everyone understands.');
  const problem = overrideTextProblem(text);
  if (problem !== undefined) throw new InvalidArgumentError(`It becomes an AWS tag, but ${problem}.`);
  return text;
}
