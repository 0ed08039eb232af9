/** `npm run bench`: the decision and whole looks on deployments of four sizes, and storms. The exit code is always 0. */
import { availableParallelism } from 'node:os';
import Table from 'cli-table3';
import { Command } from 'commander';
import { wholeNumber } from '../world/base/whole-number.ts';
import { BUSY, LARGEST, MANY_POOLS, QUIET } from './fleet.ts';
import type { Work } from './invocation-process.ts';
import { measureDecision, measureLooks } from './measure.ts';
import { playStorm } from './storm.ts';

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
for (const size of [QUIET, BUSY, LARGEST, MANY_POOLS]) {
  const { decideMs, ratio } = await measureDecision(size, seed);
  const row = [
    ...[size.jobs, size.pools, size.daemons, size.workspaces].map(count),
    `${ms(decideMs)}, ${ratio.toFixed(1)} x`,
  ];
  if (size === MANY_POOLS) table.push([...row, ...Array(4).fill('')]);
  else {
    const { init, first, later, peakRssMib } = await measureLooks(size, seed);
    table.push([...row, ...[init, first, later].map(work), `${Math.round(peakRssMib)} MiB`]);
  }
}
process.stdout.write(`${table.toString()}
goals at the largest size: decide ${ms(GOALS.decideMs)}, a later look ${ms(GOALS.laterMs)}

Storms: jobs that come at once while all daemons are busy, beside 10,000 workspaces, for 15 minutes in the simulated
world. coderd takes the time that its database takes (docs/internals/coder.md §11).

answer    the longest answer of coderd
share     of a core of coderd's database in the busiest minute: lists of jobs, and of workspaces
waits     of the jobs of the storm: median, 95th percentile, longest

`);
const storms = new Table({
  head: ['pending jobs', 'daemons', 'looks.every', 'looks', 'answer', 'share', 'waits', 'not started'],
  style: { head: [], border: [], compact: true },
});
const percent = (share: number): string => `${Math.round(share * 100)} %`;
for (const jobs of [300, 3_000, 10_000])
  for (const every of ['10s', '2s']) {
    const size = { jobs, daemons: jobs === 300 ? 200 : 1_000, workspaces: 10_000 };
    const { looks, longestMs, shares, waits, unstarted } = await playStorm({ ...size, every }, seed);
    storms.push([
      ...[size.jobs, size.daemons].map(count),
      ...[every, count(looks), ms(longestMs)],
      [shares.jobs, shares.workspaces].map(percent).join(', '),
      `${[waits.p50, waits.p95, waits.longest].map((wait) => Math.round(wait / 1000)).join(', ')} s`,
      count(unstarted),
    ]);
  }
process.stdout.write(`${storms.toString()}\n`);
