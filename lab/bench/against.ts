/** `npm run bench:against -- CHECKOUT`: the decision, compared with that of another checkout. The exit code is always 0. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Table from 'cli-table3';
import { Command } from 'commander';
import { percentile } from '../../lambda/decision/model/collections.ts';
import { wholeNumber } from '../world/base/whole-number.ts';
import { BUSY, LARGEST, MANY_POOLS, QUIET } from './fleet.ts';
import { compareDecision } from './paired.ts';

const command = new Command('bench:against')
  .description('compare the decision with that of another checkout that has node_modules')
  .argument('<checkout>', 'its folder, such as a worktree of an earlier commit')
  .option('--seed <number>', 'seed of the generated deployments', wholeNumber, 1)
  .option('--pairs <number>', 'how often both decide in turn', wholeNumber, 5)
  .parse();
const { seed, pairs } = command.opts<{ seed: number; pairs: number }>();
const [checkout = ''] = command.args;
const DECISION = 'lambda/decision/decide.ts';
if (!existsSync(join(checkout, DECISION)))
  command.error(`comparing the decision: "${checkout}" has no ${DECISION}; name the folder of a checkout`);

/** Small deployments decide in a moment, and need more decisions until the compiler has done its work. */
const SIZES = [
  { size: QUIET, runs: 300 },
  { size: BUSY, runs: 40 },
  { size: LARGEST, runs: 15 },
  { size: MANY_POOLS, runs: 15 },
];

const table = new Table({
  head: ['pending jobs', 'pools', 'daemons', 'workspaces', 'CPU: least, median, most', 'plan'],
  style: { head: [], border: [], compact: true },
});
for (const { size, runs } of SIZES) {
  const { ratios, isSamePlan } = await compareDecision(checkout, { size, seed, pairs, runs });
  table.push([
    ...[size.jobs, size.pools, size.daemons, size.workspaces].map((count) => count.toLocaleString('en')),
    [0, 0.5, 1].map((share) => percentile(ratios, share).toFixed(2)).join(', '),
    isSamePlan ? 'the same' : 'another',
  ]);
}
process.stdout.write(`Processor time of a decision here, by that in ${checkout}, of ${pairs} pairs, seed ${seed}

${table.toString()}
`);
