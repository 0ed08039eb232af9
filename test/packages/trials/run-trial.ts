/** Makes the app of a trial in an empty folder, installs the packed packages, and runs its commands. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PackagingError, sh } from '../../../packaging/command.ts';
import type { PackedName, Trial } from './trials.ts';

export type Workshop = {
  readonly projectDir: string;
  /** Apps and Node versions are put into this folder. */
  readonly dir: string;
  /** Paths of the packed packages. */
  readonly tarballs: Readonly<Record<PackedName, string>>;
};

export type TrialResult = {
  readonly name: string;
  /** What the packages and their dependencies add to node_modules. */
  readonly megabytes: number;
  readonly installSeconds: number;
  readonly commands: readonly { readonly command: string; readonly seconds: number }[];
  /** Sorted, of the synthesized template. Absent for the CLI. */
  readonly logicalIds?: readonly string[];
};

/** Throws PackagingError if an installation or a command fails, or the packages are too large. */
export function runTrial(trial: Trial, index: number, workshop: Workshop): TrialResult {
  const dir = makeApp(trial, join(workshop.dir, `${index}`, 'stock'), workshop);
  const env = environment(nodeFolder(trial.node, workshop));
  if (trial.isStock || trial.packages.length > 0) install(trial.packages, dir, env);
  const before = modulesSize(dir);
  const tarballs = trial.installs.map((name) => workshop.tarballs[name]);
  const installSeconds = timed(() => install(tarballs, dir, env));
  const megabytes = (modulesSize(dir) - before) / 1024;
  if (megabytes > trial.mostMegabytes)
    throw new PackagingError(
      `installing ${trial.installs.join(' and ')}: this adds ${megabytes.toFixed(1)} MB to node_modules, and ${trial.mostMegabytes} MB are the limit; see what grew in ${dir}`,
    );
  const commands = runCommands(trial, dir, offline(env, workshop));
  return { name: trial.name, megabytes, installSeconds, commands, ...logicalIdsIn(dir) };
}

function makeApp({ app, isStock }: Trial, dir: string, { projectDir }: Workshop): string {
  mkdirSync(dir, { recursive: true });
  const cdk = join(projectDir, 'node_modules/.bin/cdk');
  if (isStock) sh('"$1" init app --language typescript --generate-only', { cwd: dir, args: [cdk] });
  cpSync(join(projectDir, app), dir, { recursive: true });
  const config = join(dir, 'autoscaler.yaml');
  if (!existsSync(config)) cpSync(join(projectDir, 'autoscaler.example.yaml'), config);
  return dir;
}

/** The folder with the `node` of that version, which npm installs. */
function nodeFolder(version: string, { dir }: Workshop): string {
  const folder = join(dir, `node-${version}`);
  const name = `node-${process.platform}-${process.arch}`;
  const bin = join(folder, 'node_modules', name, 'bin');
  if (existsSync(bin)) return bin;
  mkdirSync(folder, { recursive: true });
  install([`${name}@${version}`], folder, process.env);
  return bin;
}

function install(packages: readonly string[], cwd: string, env: NodeJS.ProcessEnv): void {
  sh('npm install --silent --no-audit --no-fund --engine-strict "$@"', { cwd, env, args: packages });
}

/** Kilobytes on disk. */
function modulesSize(dir: string): number {
  if (!existsSync(join(dir, 'node_modules'))) return 0;
  return Number.parseInt(sh('du -sk node_modules', { cwd: dir }), 10);
}

function runCommands({ commands }: Trial, cwd: string, env: NodeJS.ProcessEnv): TrialResult['commands'] {
  return commands.map((command) => ({ command, seconds: timed(() => sh(command, { cwd, env })) }));
}

function environment(nodeBin: string): NodeJS.ProcessEnv {
  // npm and cdk must not take the versions or settings of the checkout that runs this
  const own = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_OPTIONS$|INIT_CWD$)/.test(name));
  return { ...Object.fromEntries(own), PATH: `${nodeBin}${delimiter}${process.env.PATH}` };
}

function offline(env: NodeJS.ProcessEnv, { projectDir }: Workshop): NodeJS.ProcessEnv {
  const deny = join(projectDir, 'test/packages/trials/deny-network.cjs');
  return { ...env, NODE_OPTIONS: `--require "${deny}"` };
}

function logicalIdsIn(dir: string): Pick<TrialResult, 'logicalIds'> {
  const [template] = globSync('cdk.out/*.template.json', { cwd: dir });
  if (template === undefined) return {};
  const { Resources } = JSON.parse(readFileSync(join(dir, template), 'utf8'));
  // The cdk command adds this resource, and an app that runs without it does not have it.
  const { CDKMetadata: _, ...own } = Resources;
  return { logicalIds: Object.keys(own).sort() };
}

function timed(action: () => void): number {
  const start = performance.now();
  action();
  return (performance.now() - start) / 1000;
}
