/** Prints the demo: a live table on a terminal, one line per change elsewhere. */
import { styleText } from 'node:util';
import Table from 'cli-table3';
import { createLogUpdate } from 'log-update';
import type { GuardFigures } from '../simulator/guarded/guarded-tasks.ts';
import type { World } from '../simulator/world.ts';
import { HEAD, rowsOf } from './rows.ts';
import type { Summary } from './summary.ts';

export type View = {
  /** Prints a line about an event. */
  readonly say: (line: string) => void;
  /** Shows the current state. */
  readonly draw: () => void;
  readonly end: (summary: Summary, tookMs: number) => void;
};

export type ViewOptions = {
  readonly stream: NodeJS.WriteStream;
  /** Present if tasks run the real guard. */
  readonly guards?: (() => GuardFigures) | undefined;
};

const LINES_KEPT = 8;

/** Creates a view that writes to `stream`: live on a terminal, one line per change elsewhere. */
export function createView(world: World, options: ViewOptions): View {
  return options.stream.isTTY ? liveView(world, options) : quietView(world, options.stream);
}

function liveView(world: World, { stream, guards }: ViewOptions): View {
  const update = createLogUpdate(stream);
  const lines: string[] = [];
  return {
    say: (line) => lines.push(`${worldTime(world)}  ${line}`),
    draw: () =>
      update(
        `${tableOf(world)}\n${waitingText(world)}\n${guards ? guardsText(guards()) : ''}\n${lines.slice(-LINES_KEPT).join('\n')}\n`,
      ),
    end: (summary, tookMs) => {
      update.done();
      stream.write(`${summaryText(summary, tookMs)}\n`);
    },
  };
}

function quietView(world: World, stream: NodeJS.WriteStream): View {
  const desired = new Map(rowsOf(world).map((row) => [row.name, row.desired]));
  const say = (line: string): void => void stream.write(`${worldTime(world)}  ${line}\n`);
  return {
    say,
    draw: () => {
      for (const row of rowsOf(world)) {
        const before = desired.get(row.name);
        if (before !== row.desired) say(`pool ${row.name}: desired count ${before} -> ${row.desired}`);
        desired.set(row.name, row.desired);
      }
    },
    end: (summary, tookMs) => void stream.write(`\n${summaryText(summary, tookMs)}\n`),
  };
}

function tableOf(world: World): string {
  const table = new Table({
    head: HEAD.map((text) => styleText('bold', text)),
    style: { head: [], compact: true },
  });
  table.push(...rowsOf(world).map(({ cells }) => [...cells]));
  return table.toString();
}

function waitingText(world: World): string {
  const jobs = world.coderd.jobs();
  const count = (status: string): number => jobs.filter((job) => job.status === status).length;
  return `${worldTime(world)}  jobs: ${count('pending')} pending, ${count('running')} running, ${count('succeeded')} succeeded`;
}

function worldTime(world: World): string {
  return new Date(world.timeline.now()).toISOString().slice(11, 19);
}

function guardsText({ started, exited, killed }: GuardFigures): string {
  return `each task runs the real guard.sh: ${started - exited - killed} processes, ${exited} exited\n`;
}

function summaryText(summary: Summary, tookMs: number): string {
  const { jobs, tasks, waitSeconds, deployments, autostarts, guards } = summary;
  return [
    `jobs: ${jobs.succeeded} of ${jobs.submitted} succeeded, ${jobs.unserved} unschedulable, ${jobs.killed} killed`,
    `tasks: ${tasks.peak} at the peak, ${tasks.end} at the end; deployments: ${deployments.completed} of ${deployments.started} completed`,
    `autostarts from zero: coderd started ${autostarts.started} of ${autostarts.due} workspaces`,
    ...(guards === undefined
      ? []
      : [
          `guards: ${guards.started} processes of the real guard.sh started, ${guards.exited} exited by themselves`,
        ]),
    `wait: p50 ${waitSeconds.p50} s, p95 ${waitSeconds.p95} s in simulated time; the demo took ${Math.round(tookMs / 1000)} s`,
  ].join('\n');
}
