/** What the demo shows: a live table on a terminal, quiet lines elsewhere. */
import { styleText } from 'node:util';
import Table from 'cli-table3';
import { createLogUpdate } from 'log-update';
import { tagText } from '../../lambda/app/text.ts';
import type { World } from '../world.ts';
import { POOLS } from './scenario.ts';
import type { Summary } from './summary.ts';

export type View = {
  /** Something happened that is worth a line. */
  readonly say: (line: string) => void;
  /** Shows the world as it is now. */
  readonly draw: () => void;
  readonly end: (summary: Summary, tookMs: number) => void;
};

type Row = { readonly name: string; readonly cells: readonly string[]; readonly desired: number };

const LINES_KEPT = 8;
const HEAD = ['pool', 'tags', 'desired', 'tasks', 'busy', 'free', 'jobs done'];

/** A view on `stream`: live on a terminal, a line for each change elsewhere. */
export function createView(world: World, stream: NodeJS.WriteStream): View {
  return stream.isTTY ? liveView(world, stream) : quietView(world, stream);
}

function liveView(world: World, stream: NodeJS.WriteStream): View {
  const update = createLogUpdate(stream);
  const lines: string[] = [];
  return {
    say: (line) => lines.push(`${worldTime(world)}  ${line}`),
    draw: () =>
      update(`${tableOf(world)}\n${waitingText(world)}\n\n${lines.slice(-LINES_KEPT).join('\n')}\n`),
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

function rowsOf(world: World): readonly Row[] {
  const jobs = world.coderd.jobs();
  return POOLS.map(({ name, tags }) => {
    const { state, tasks } = world.service(name);
    const workers = new Set(
      world.coderd
        .daemons()
        .filter((daemon) => daemon.name.startsWith(`${name}-`) && daemon.keyName === name)
        .map(({ id }) => id),
    );
    const busy = [...tasks].filter((task) => task.isBusy).length;
    const running = [...tasks].filter((task) => task.state.lastStatus === 'RUNNING').length;
    const done = jobs.filter(
      ({ workerId, completedAt }) =>
        workerId !== undefined && completedAt !== undefined && workers.has(workerId),
    ).length;
    const cells = [
      name,
      tagText(tags),
      `${state.desiredCount}`,
      `${running}`,
      `${busy}`,
      `${running - busy}`,
      `${done}`,
    ];
    return { name, cells, desired: state.desiredCount };
  });
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

function summaryText({ jobs, tasks, waitSeconds }: Summary, tookMs: number): string {
  return [
    `${jobs.succeeded} of ${jobs.submitted} jobs succeeded, ${jobs.unserved} that no pool can run is unserved, ${jobs.killed} killed`,
    `tasks: ${tasks.peak} at the peak, ${tasks.end} at the end`,
    `wait: p50 ${waitSeconds.p50} s, p95 ${waitSeconds.p95} s of the world's time; the demo took ${Math.round(tookMs / 1000)} s`,
  ].join('\n');
}
