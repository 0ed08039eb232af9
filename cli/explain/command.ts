/**
 * `autoscaler explain`: gathers what coderd's row, the function's log and a live look tell of one job.
 * Exit code 1 if the job is unknown or coderd cannot be read. `--dead`: the builds that died with their tasks.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../../lambda/config/load.ts';
import { makeClients } from '../../lambda/connect.ts';
import { deliberate } from '../../lambda/decision/decide.ts';
import { isoTime, plusMs } from '../../lambda/decision/model/brands.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { OrganizationReadings, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { withPromises } from '../../lambda/decision/promise/promise.ts';
import { some } from '../../lambda/explain/format.ts';
import { orphansOf } from '../../lambda/look/orphan-event.ts';
import { deriveJobWait, indexServing, type ServingTasks } from '../../lambda/look/waits/job-wait.ts';
import { type JobDetails, readJobDetails } from '../adapters/history.ts';
import { loggedWait, WAIT_FIELDS, withFunctionLog } from '../logs/function-log.ts';
import { whileWorking } from '../shared/activity.ts';
import { withAdvice } from '../shared/aws-advice.ts';
import {
  type CliEnvironment,
  type CommandContext,
  InputError,
  UsageError,
} from '../shared/cli-environment.ts';
import { lookLive } from '../shared/live.ts';
import {
  type JsonOptions,
  type LiveOptions,
  withJsonOption,
  withLiveOptions,
} from '../shared/live-options.ts';
import { countTo } from '../shared/option-values.ts';
import { wrapLines } from '../shared/plain-table.ts';
import { printDeadBuilds } from './dead-builds.ts';
import {
  type ExplainedWait,
  explainedJob,
  explainPending,
  type JobExplanation,
  orderedParts,
  silentDaemon,
} from './explanation.ts';
import { explanationScreen } from './screen.ts';

type ExplainOptions = JsonOptions & { readonly dead: boolean; readonly days: number };

/** CloudWatch keeps no log for longer, unless it keeps it for ever. */
const MOST_DAYS = 3_653;

export function addExplainCommand(program: Command, { cliEnvironment, exitWith }: CommandContext): void {
  withJsonOption(withLiveOptions(program.command('explain')), 'the explanation')
    .description('explain why a job waited or still waits; or list the builds that died')
    .argument('[id]', 'id of a provisioner job, or the first 8 characters that the plan shows', jobId)
    .option('--dead', 'list the builds that died with their tasks, and what to check in the cloud', false)
    .option('--days <number>', 'with --dead: how many days to look back', countTo(MOST_DAYS), 7)
    .action(async (job: string | undefined, options: ExplainOptions) => {
      if ((job !== undefined) === options.dead)
        throw new UsageError('explain needs the id of one job, or --dead for the builds that died');
      if (job === undefined) exitWith(await printDeadBuilds(options, cliEnvironment));
      else await printJob(job, options, cliEnvironment);
    });
}

async function printJob(id: string, options: JsonOptions, cliEnvironment: CliEnvironment): Promise<void> {
  const explanation = await gatherJob(id, options, cliEnvironment);
  const text = options.json
    ? JSON.stringify({ version: 1, ...explanation }, null, 2)
    : wrapLines(explanationScreen(explanation), cliEnvironment.columns);
  cliEnvironment.out(`${text}\n`);
}

/** A UUID, or its first 8 characters or more. */
const ID = /^(?=.{8,36}$)[0-9a-f]{8}(-[0-9a-f]{0,4}){0,3}(-[0-9a-f]{0,12})?$/i;

function jobId(text: string): string {
  if (ID.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError(
    'Give the id of a provisioner job, such as 4d2c1a5e-0000-4000-8000-0123456789ab. "coder provisioner jobs list" shows the ids.',
  );
}

/** Throws InputError if coderd has no such job, or cannot be read. */
async function gatherJob(
  given: string,
  options: LiveOptions,
  cliEnvironment: CliEnvironment,
): Promise<JobExplanation> {
  const { snapshot, config } = await lookLive(options, cliEnvironment);
  const id = completeId(given, snapshot);
  const { job, organization } = await findJob(id, snapshot, options, cliEnvironment);
  const isStarted = job.started_at != null && job.worker_id != null;
  const plan = withPromises(deliberate(snapshot, config), snapshot);
  const serving = indexServing(snapshot);
  const logged = isStarted ? await readLog(job, options, cliEnvironment) : { notes: [] };
  return {
    takenAt: isoTime(snapshot.takenAt),
    job: explainedJob(job, organization),
    wait: isStarted ? (logged.wait ?? liveWait(job, organization, serving)) : null,
    silent: silentDaemon(job, serving, snapshot.takenAt),
    pending: job.status === 'pending' ? explainPending(job, snapshot, plan) : null,
    died: orphansOf(plan.findings).find((orphan) => orphan.job === job.id) ?? null,
    notes: logged.notes,
  };
}

const UUID_LENGTH = 36;

/** The id of the job that begins like this. coderd finds jobs by their whole ids only. */
function completeId(given: string, { coder }: Snapshot): string {
  if (given.length === UUID_LENGTH) return given;
  const jobs = coder.organizations.flatMap(({ jobs, recentJobs }) => [
    ...jobs.items,
    ...(recentJobs?.items ?? []),
  ]);
  const ids = [...new Set(jobs.map(({ id }) => id))].filter((id) => id.startsWith(given));
  const [id] = ids;
  if (id !== undefined && ids.length === 1) return id;
  const seen = ids.length === 0 ? 'no job of this look begins' : `${ids.length} jobs of this look begin`;
  throw new InputError(`finding job ${given}: ${seen} with this. Give the whole id`);
}

type Found = { readonly job: JobDetails; readonly organization: OrganizationReadings };

async function findJob(
  id: string,
  { coder }: Snapshot,
  { config: file }: LiveOptions,
  cliEnvironment: CliEnvironment,
): Promise<Found> {
  const { config, caBundle } = loadConfig(file);
  const { coderd, close } = makeClients(config, caBundle);
  try {
    const failures: unknown[] = [];
    for (const organization of coder.organizations)
      try {
        const job = await whileWorking('reading the job', cliEnvironment, () =>
          readJobDetails(coderd, organization, id),
        );
        if (job !== undefined) return { job, organization };
      } catch (cause) {
        // the job may be in another organization
        failures.push(new InputError(unread(id, organization, cause), { cause }));
      }
    throw failures[0] ?? new InputError(notFound(id, coder.organizations));
  } finally {
    await close();
  }
}

function unread(id: string, { name }: OrganizationReadings, cause: unknown): string {
  return withAdvice(`reading job ${id} in organization "${name}": ${messageOf(cause)}`);
}

function notFound(id: string, organizations: readonly OrganizationReadings[]): string {
  const names = organizations.map(({ name }) => `"${name}"`).join(', ');
  return `finding job ${id}: coderd has no such job in the ${some(organizations.length, 'organization')} of the configuration (${names}). Check the id with "coder provisioner jobs list". coderd deletes the jobs of deleted templates and workspaces`;
}

/** The forecast shows a start ten minutes late at most. An unreadable list delays it by ten more. */
const LOGGED_WITHIN_MS = 30 * MINUTE_MS;
/** The start is coderd's time and the line has AWS's: these clocks differ. */
const CLOCK_SKEW_MS = 5 * MINUTE_MS;

async function readLog(
  job: JobDetails,
  options: LiveOptions,
  cliEnvironment: CliEnvironment,
): Promise<{ readonly wait?: ExplainedWait | undefined; readonly notes: readonly string[] }> {
  const startedAt = job.started_at ?? job.created_at;
  const span = { from: plusMs(startedAt, -CLOCK_SKEW_MS), to: plusMs(startedAt, LOGGED_WITHIN_MS) };
  const commands = [`fields ${WAIT_FIELDS.join(', ')}`, `filter id = "${job.id}"`, 'sort @timestamp asc'];
  try {
    const { rows } = await withFunctionLog(options, { ...cliEnvironment, err: () => {} }, (log) =>
      log.query('wait', commands, span),
    );
    const wait = rows.flatMap((row) => loggedWait(row) ?? [])[0];
    return {
      wait: wait && {
        source: 'log',
        ...wait,
        promised: wait.promised && {
          from: isoTime(plusMs(job.created_at, wait.promised.fromMs)),
          to: isoTime(plusMs(job.created_at, wait.promised.toMs)),
        },
        parts: orderedParts(wait.parts, job.created_at),
      },
      notes: [],
    };
  } catch (cause) {
    if (!(cause instanceof InputError)) throw cause;
    return { notes: [`${cause.message}. Without the log, the time before the launch is not split`] };
  }
}

/** From coderd's daemons and the tasks that ECS lists now: those of the last hour. */
function liveWait(job: JobDetails, organization: OrganizationReadings, serving: ServingTasks): ExplainedWait {
  const startedAt = job.started_at ?? job.created_at;
  const started = { job: { ...job, error: undefined, started_at: startedAt }, organization };
  const wait = deriveJobWait(started, serving);
  const waitMs = Math.max(0, startedAt - job.created_at);
  return {
    source: 'live',
    pool: wait?.pool ?? null,
    task: wait?.task ?? null,
    waitMs,
    promised: null,
    parts: orderedParts(wait?.parts ?? (waitMs > 0 ? { unknown: waitMs } : {}), job.created_at),
  };
}
