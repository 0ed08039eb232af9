/**
 * `npm run explore`: checks "The lease" of docs/internals/architecture.md in every interleaving of
 * a small world. Exits with 1 for a violation, or for a mutant that is not caught.
 */
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { wholeNumber } from '../../world/base/whole-number.ts';
import { boundText, caughtLines, exploredLines, summaryOf, traceLines } from './report.ts';
import { exploreOnThreads } from './run.ts';

const { json, small, traces, workers } = new Command('explore')
  .description('check guard, ECS, coderd and autoscaler in every interleaving of a small world')
  .option('--json', 'print the summary as one JSON object on the last line', false)
  .option('--small', 'explore the protocol itself in a smaller world; the mutants as ever', false)
  .option('--traces', 'print the shortest trace that catches each mutant', false)
  .option('--workers <n>', 'number of threads; the result is the same', wholeNumber, availableParallelism())
  .parse()
  .opts<{ json: boolean; small: boolean; traces: boolean; workers: number }>();

const startedAt = performance.now();
const out = json ? process.stderr : process.stdout;
const print = (lines: readonly string[]): void => {
  for (const line of lines) out.write(`${line}\n`);
};

print([
  'Time is in units of 6 h. A lease lasts 8 units, a drain request 3. A guard that cannot look drains after 1 unit. A job of a draining daemon ends within 2 units.',
  'Not in the model, because no protection prevents them: Spot, host failures, maintenance, forced stops, a deleted service.',
  '',
]);
const threads = exploreOnThreads(Math.max(1, workers), small ? 'small' : 'whole');
for (const running of threads.explored) {
  const result = await running;
  print([boundText(result.exploration), ...exploredLines(result)]);
}
const explored = await Promise.all(threads.explored);
const mutants = await Promise.all(threads.mutants);
print(['', 'Mutants of the protocol. Each must be caught:', ...mutants.flatMap(caughtLines)]);
const assumptions = await Promise.all(threads.assumptions);
print(['', 'Assumptions behind safety. Each is needed: without it there is a violation:']);
print(assumptions.flatMap(caughtLines));
await threads.close();
if (traces) print([...mutants, ...assumptions].flatMap(traceLines));

const summary = summaryOf({
  explored,
  mutants,
  assumptions,
  seconds: (performance.now() - startedAt) / 1000,
});
print(['', `${summary.states} states, ${summary.violations} violations, ${summary.seconds} s`]);
if (json) process.stdout.write(`${JSON.stringify(summary)}\n`);
const isAsPromised = summary.violations === 0 && summary.mutants.caught === summary.mutants.of;
process.exitCode = isAsPromised ? 0 : 1;
