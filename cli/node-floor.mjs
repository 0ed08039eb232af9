// Runs this process again with the packaged Node if that is newer, and else ends a too old Node with a clear message
// (docs/adr/0001). It starts the packaged Node by its path: npm 10 makes no `node_modules/.bin/node`. JavaScript, and
// imported first: an old Node refuses TypeScript, and misses what other modules import.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const { engines, optionalDependencies = {} } = manifestIn('../');
const packaged = newerNode(Object.keys(optionalDependencies));
if (packaged !== undefined) await runAgain(packaged);
const problem = nodeProblem(engines.node, process.versions.node) ?? packagesProblem();
if (problem !== undefined) {
  console.error(`error: ${problem}`);
  process.exit(1);
}

/** The path of the Node that npm has installed for this platform, if it is newer than this one. */
function newerNode(names) {
  const folder = names
    .map((name) => `../node_modules/${name}/`)
    .find((at) => existsSync(new URL(at, import.meta.url)));
  if (folder === undefined) return undefined;
  const { version, bin } = manifestIn(folder);
  return isOlder(process.versions.node, version)
    ? fileURLToPath(new URL(folder + bin.node, import.meta.url))
    : undefined;
}

/** Ends this process as that one ends. Returns if that Node cannot start here. */
async function runAgain(node) {
  // a terminal sends Ctrl-C to both processes
  process.on('SIGINT', () => {});
  // before the start: a signal that comes meanwhile is passed on after it
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  await new Promise((resolve) => {
    child.on('error', resolve);
    child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  });
}

/** Only a clone has a lock. Its packages may be in a folder above it. */
function packagesProblem() {
  if (!existsSync(new URL('../package-lock.json', import.meta.url))) return undefined;
  try {
    import.meta.resolve('commander');
    return undefined;
  } catch {
    return 'no packages are installed. Run: npm ci';
  }
}

/** Says what to do if this Node is too old. `floor`: such as `>=22.19.0`. */
export function nodeProblem(floor, version) {
  const oldest = floor.replace('>=', '');
  if (!isOlder(version, oldest)) return undefined;
  return `autoscaler needs Node ${oldest} or newer, and this is Node ${version}. Install a newer Node, or run npm ci in a clone`;
}

function isOlder(version, than) {
  const [found, wanted] = [version, than].map((each) => each.split('.').map(Number));
  const at = wanted.findIndex((number, index) => number !== found[index]);
  return at >= 0 && found[at] < wanted[at];
}

function manifestIn(folder) {
  return JSON.parse(readFileSync(new URL(`${folder}package.json`, import.meta.url), 'utf8'));
}
