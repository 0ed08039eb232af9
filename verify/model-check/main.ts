/**
 * `npm run explore`: the protocol of docs/architecture.md, "The lease" in every interleaving of a small world. Fails when a property is
 * violated, or when a mutant of the protocol is not noticed.
 */
import { Command } from 'commander';
import { boundText, caughtLines, exploredLines, summaryOf, traceLines } from './report.ts';
import { catchMutants, EXPLORATIONS, type Explored, explore, proveAssumptions } from './run.ts';

const { json, traces } = new Command('explore')
  .description('explore guard, ECS, coderd and autoscaler in every interleaving of a small world')
  .option('--json', 'end with one JSON object on the last line', false)
  .option('--traces', 'show the shortest trace to each mutant that was caught', false)
  .parse()
  .opts<{ json: boolean; traces: boolean }>();

const startedAt = performance.now();
const out = json ? process.stderr : process.stdout;
const say = (lines: readonly string[]): void => {
  for (const line of lines) out.write(`${line}\n`);
};

say([
  'time in units of 6 h: a lease lasts 8, an ask 3, a guard drains when blind for 1, a job that drains ends within 2',
  'not in the model: Spot, host failures, maintenance, forced stops, a deleted service (no protection holds those)',
  '',
]);
const explored: Explored[] = [];
for (const exploration of EXPLORATIONS) {
  say([`exploring ${boundText(exploration)} ...`]);
  const result = explore(exploration);
  explored.push(result);
  say(exploredLines(result));
}
const mutants = catchMutants();
say(['', 'mutants of the protocol:', ...mutants.flatMap(caughtLines)]);
const assumptions = proveAssumptions();
say(['', 'what safety rests on beside the protocol, and a violation without it:']);
say(assumptions.flatMap(caughtLines));
if (traces) say([...mutants, ...assumptions].flatMap(traceLines));

const summary = summaryOf({
  explored,
  mutants,
  assumptions,
  seconds: (performance.now() - startedAt) / 1000,
});
say(['', `${summary.states} states, ${summary.violations} violations, ${summary.seconds} s`]);
if (json) process.stdout.write(`${JSON.stringify(summary)}\n`);
const isAsPromised = summary.violations === 0 && summary.mutants.caught === summary.mutants.of;
process.exitCode = isAsPromised ? 0 : 1;
