// Ends the process with a clear message under a Node older than package.json asks for. JavaScript, and imported
// first: an old Node refuses TypeScript, and misses what other modules import.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const problem = nodeProblem(engines.node, process.versions.node);
if (problem !== undefined) {
  console.error(`error: ${problem}`);
  process.exit(1);
}

/** Says what to do if this Node is too old. `floor`: such as `>=22.19.0`. */
export function nodeProblem(floor, version) {
  const oldest = floor.replace('>=', '');
  const wanted = oldest.split('.').map(Number);
  const found = version.split('.').map(Number);
  const at = wanted.findIndex((number, index) => number !== found[index]);
  if (at < 0 || found[at] > wanted[at]) return undefined;
  return `autoscaler needs Node ${oldest} or newer, and this is Node ${version}. Install a newer Node`;
}
