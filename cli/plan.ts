import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { parseSnapshot } from '../lambda/adapters/snapshot/schema.ts';
import { type Deliberation, deliberate } from '../lambda/decision/decide.ts';
import { snapshotAt } from '../lambda/decision/forecast/shift-snapshot.ts';
import type { EpochMs } from '../lambda/decision/model/brands.ts';
import type { Snapshot } from '../lambda/decision/model/snapshot.ts';
import { isoTime } from '../lambda/decision/report/waiting.ts';
import { explainPool } from '../lambda/explain/explain.ts';
import { timeText } from '../lambda/explain/format.ts';
import { planText } from '../lambda/explain/text.ts';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from './shared/cli-environment.ts';
import { type LiveOptions, lookLive, readConfig, withLiveOptions } from './shared/live.ts';
import { parseTime } from './shared/time-option.ts';
import { unreadLists } from './shared/unread-lists.ts';

type PlanOptions = LiveOptions & {
  readonly snapshot?: string;
  readonly at?: EpochMs;
  readonly json: boolean;
  readonly explain?: string;
};

/** `autoscaler plan` */
export function addPlanCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withLiveOptions(program.command('plan'))
    .description('show what the next look would do, and why; changes nothing')
    .option(
      '--snapshot <file>',
      'plan from a snapshot file, without reading coderd and ECS; - for standard input',
    )
    .option(
      '--at <time>',
      "plan for a later time, such as 2026-03-02T08:58:00Z, with today's pools, daemons and jobs",
      parseTime,
    )
    .option('--json', 'print the plan as one JSON document', false)
    .option('--explain <pool>', 'explain the decision about one pool step by step')
    .action(async (options: PlanOptions) => exitWith(await plan(options, cliEnvironment)));
}

async function plan(options: PlanOptions, cliEnvironment: CliEnvironment): Promise<number> {
  const { snapshot, config } =
    options.snapshot === undefined
      ? await lookLive(options, cliEnvironment)
      : {
          snapshot: readSnapshot(options.snapshot),
          config: readConfig(options.config, cliEnvironment).config,
        };
  const seen = options.at === undefined ? snapshot : laterThan(snapshot, options.at);
  const note = options.at === undefined || options.json ? '' : `${laterNote(snapshot, options.at)}\n\n`;
  cliEnvironment.out(`${note}${render(deliberate(seen, config), seen, options)}\n`);
  return options.snapshot === undefined && unreadLists(snapshot).length > 0 ? 1 : 0;
}

function laterThan(snapshot: Snapshot, at: EpochMs): Snapshot {
  if (at >= snapshot.takenAt) return snapshotAt(snapshot, at);
  throw new InputError(
    `planning at ${isoTime(at)}: the snapshot is of ${isoTime(snapshot.takenAt)} and has no earlier transitions. Give a later time`,
  );
}

function laterNote({ takenAt }: Snapshot, at: EpochMs): string {
  return `Planned for ${timeText(isoTime(at))}, with the pools, daemons and jobs of ${timeText(isoTime(takenAt))}. Only the next transition of each workspace is known`;
}

function render(deliberation: Deliberation, snapshot: Snapshot, { json, explain }: PlanOptions): string {
  if (explain === undefined)
    return json ? JSON.stringify(deliberation.plan, null, 2) : planText(deliberation.plan);
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
    throw new InputError(`reading the snapshot ${file}: ${problem}. Write one with autoscaler snapshot`, {
      cause,
    });
  }
  return parseSnapshot(value);
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new InputError(
      `reading the snapshot ${file}: ${(cause as Error).message}. Write one with autoscaler snapshot`,
      { cause },
    );
  }
}
