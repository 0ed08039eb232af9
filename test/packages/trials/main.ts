/** `.ci/packages [--first]`: packs both packages, tries them in every app or the first, and prints times. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PackagingError, runMain, sh } from '../../../packaging/command.ts';
import { CLI, CONSTRUCT, type PackageDefinition } from '../../../packaging/definitions.ts';
import { writePackage } from '../../../packaging/write-package.ts';
import { runTrial, type TrialResult, type Workshop } from './run-trial.ts';
import { TRIALS } from './trials.ts';

const projectDir = fileURLToPath(new URL('../../..', import.meta.url));

function main(args: readonly string[]): void {
  const dir = mkdtempSync(join(tmpdir(), 'packages-'));
  const workshop = { projectDir, dir, tarballs: packBoth(dir) };
  const trials = args.includes('--first') ? TRIALS.slice(0, 1) : TRIALS;
  const results = trials.map((trial, index) => tried(trial.name, () => runTrial(trial, index, workshop)));
  compareLogicalIds(results);
  console.log(`${results.length} of ${TRIALS.length} apps tried; all of them work`);
  rmSync(dir, { recursive: true });
}

function packBoth(dir: string): Workshop['tarballs'] {
  return { construct: pack(CONSTRUCT, dir), cli: pack(CLI, dir) };
}

function pack(definition: PackageDefinition, dir: string): string {
  const folder = join(dir, 'packages');
  mkdirSync(folder, { recursive: true });
  const written = writePackage(definition, { projectDir, outDir: folder });
  return join(
    folder,
    sh('npm pack --silent --pack-destination "$1"', { cwd: written, args: [folder] }).trim(),
  );
}

function tried(name: string, run: () => TrialResult): TrialResult {
  console.log(name);
  const result = run();
  console.log(`  installed ${result.megabytes.toFixed(1)} MB in ${result.installSeconds.toFixed(1)} s`);
  for (const { command, seconds } of result.commands) console.log(`  ${command}: ${seconds.toFixed(1)} s`);
  return result;
}

/** An app that changes its version of aws-cdk-lib must not replace resources. */
function compareLogicalIds(results: readonly TrialResult[]): void {
  const templates = results.filter(({ logicalIds }) => logicalIds !== undefined);
  const [first, ...others] = templates;
  const other = others.find(({ logicalIds }) => String(logicalIds) !== String(first?.logicalIds));
  if (other === undefined) return;
  throw new PackagingError(
    `comparing templates: "${other.name}" has other logical ids than "${first?.name}"; a version of aws-cdk-lib names resources differently, so raise OLDEST_PEERS or set the ids`,
  );
}

runMain(() => main(process.argv.slice(2)));
