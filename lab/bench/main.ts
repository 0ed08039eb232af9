/** `npm run bench`: the decision and whole looks on deployments of three sizes. The exit code is always 0. */
import { availableParallelism } from 'node:os';
import Table from 'cli-table3';
import { Command } from 'commander';
import { wholeNumber } from '../world/base/whole-number.ts';
import { BUSY, LARGEST, QUIET } from './fleet.ts';
import type { Work } from './invocation-process.ts';
import { measure } from './measure.ts';

/** The goals of the project at the largest size. */
const GOALS = { decideMs: 100, laterMs: 2_000 } as const;

const { seed } = new Command('bench')
  .description('measure the decision and a whole look')
  .option('--seed <number>', 'seed of the generated deployments', wholeNumber, 1)
  .parse()
  .opts<{ seed: number }>();

const count = (value: number): string => value.toLocaleString('en');
const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : count(Math.round(value))} ms`;
const work = (of: Work): string => `${ms(of.ms)}, CPU ${ms(of.cpuMs)}`;

process.stdout.write(`Node ${process.version}, ${availableParallelism()} cores, seed ${seed}

decide    the first decision of a function, and its ratio to JSON.parse of the same snapshot: comparable between machines
init      from the start of the function's process until the bundle is loaded
looks     observe, decide and apply, against a server on loopback; later looks: median
CPU       Lambda gives 1 vCPU for 1,769 MB, so 512 MB need 3.5 times the processor time
memory    peak resident memory of the process

`);
const table = new Table({
  head: ['pending jobs', 'pools', 'daemons', 'workspaces', 'decide', 'init', 'first look', 'later', 'memory'],
  style: { head: [], border: [], compact: true },
});
for (const size of [QUIET, BUSY, LARGEST]) {
  const { decideMs, ratio, init, first, later, peakRssMib } = await measure(size, seed);
  table.push([
    ...[size.jobs, size.pools, size.daemons, size.workspaces].map(count),
    `${ms(decideMs)}, ${ratio.toFixed(1)} x`,
    ...[init, first, later].map(work),
    `${Math.round(peakRssMib)} MiB`,
  ]);
}
process.stdout.write(`${table.toString()}
goals at the largest size: decide ${ms(GOALS.decideMs)}, a later look ${ms(GOALS.laterMs)}
`);
