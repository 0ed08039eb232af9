import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { parseSnapshot, snapshotToJson } from '../lambda/adapters/snapshot-schema.ts';
import { decodeUtf8 } from '../lambda/config/utf8.ts';
import { type Deliberation, deliberate } from '../lambda/decision/decide.ts';
import type { Snapshot } from '../lambda/decision/model/snapshot.ts';
import { withPromises } from '../lambda/decision/promise/promise.ts';
import { planText } from '../lambda/explain/text.ts';
import { writeFileWhole } from '../lambda/shared/whole-file.ts';
import { explainPool } from './explain/explain-pool.ts';
import { shown } from './shared/brief.ts';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from './shared/cli-environment.ts';
import { lookLive, unreadLists } from './shared/live.ts';
import { type LiveOptions, readConfig, withJsonOption, withLiveOptions } from './shared/live-options.ts';
import { wrapLines } from './shared/plain-table.ts';

type PlanOptions = LiveOptions & {
  readonly snapshot?: string;
  readonly save?: string;
  readonly json: boolean;
  /** The name of a pool; true without a name. */
  readonly explain?: string | true;
};

/** `autoscaler plan`: exit code 1 if a list is missing or stale, live and from a snapshot. */
export function addPlanCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withJsonOption(withLiveOptions(program.command('plan')), 'the plan')
    .description('show what the next look would do, and why; changes nothing')
    .option(
      '--snapshot <file>',
      'plan from a snapshot file, without reading coderd and ECS; - for standard input',
    )
    .addOption(
      new Option(
        '--save <file>',
        'also write what was read to a snapshot file, which holds no secrets',
      ).conflicts('snapshot'),
    )
    .option(
      '--explain [pool-name]',
      'print long sentences whole; with a pool, explain its decision step by step',
    )
    .action(async (options: PlanOptions) => exitWith(await plan(options, cliEnvironment)));
}

async function plan(options: PlanOptions, cliEnvironment: CliEnvironment): Promise<number> {
  if (options.save === '-')
    throw new UsageError(
      '--save writes a file, and the plan goes to standard output. Give the name of a file',
    );
  const { snapshot, config } =
    options.snapshot === undefined
      ? await lookLive(options, cliEnvironment)
      : {
          snapshot: readSnapshot(options.snapshot),
          config: readConfig(options.config, cliEnvironment).config,
        };
  if (options.save !== undefined) save(options.save, snapshot, cliEnvironment);
  const text = render(deliberate(snapshot, config), snapshot, options);
  cliEnvironment.out(`${options.json ? text : wrapLines(text, cliEnvironment.columns)}\n`);
  return unreadLists(snapshot).length > 0 ? 1 : 0;
}

function save(file: string, snapshot: Snapshot, { err }: CliEnvironment): void {
  try {
    writeFileWhole(file, `${JSON.stringify(snapshotToJson(snapshot), null, 2)}\n`);
  } catch (cause) {
    throw new InputError(`writing ${file}: ${(cause as Error).message}. Give another file with --save`, {
      cause,
    });
  }
  err(`wrote ${file}\n`);
}

function render(deliberation: Deliberation, snapshot: Snapshot, { json, explain }: PlanOptions): string {
  if (explain === undefined || explain === true) {
    const plan = withPromises(deliberation, snapshot);
    return json
      ? JSON.stringify(plan, null, 2)
      : shown((wording) => planText(plan, wording), explain === true);
  }
  if (json) throw new UsageError('--explain prints text only. Omit --json');
  const explanation = explainPool(explain, deliberation, snapshot);
  if (explanation !== undefined) return explanation;
  const names = deliberation.plan.pools.map(({ name }) => name).join(', ');
  throw new InputError(`explaining pool "${explain}": the configuration has no such pool. It has ${names}`);
}

function readSnapshot(file: string): Snapshot {
  const text = readText(file);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const problem = text.trim() === '' ? 'it is empty' : `it is not JSON (${(cause as Error).message})`;
    throw unreadable(file, problem, cause);
  }
  return parseSnapshot(value);
}

function readText(file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file === '-' ? 0 : file);
  } catch (cause) {
    throw unreadable(file, (cause as Error).message, cause);
  }
  const decoded = decodeUtf8(bytes);
  if ('problem' in decoded) throw unreadable(file, decoded.problem);
  return decoded.text;
}

function unreadable(file: string, problem: string, cause?: unknown): InputError {
  return new InputError(
    `reading the snapshot ${file}: ${problem}. Write one with autoscaler plan --save FILE`,
    {
      cause,
    },
  );
}
