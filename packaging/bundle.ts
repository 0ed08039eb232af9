/**
 * Bundles a module with its packages, and collects their licences. Installed as dependencies,
 * echarts is larger than all of the rest of the CLI, and fflate has eight builds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { PackagingError } from './command.ts';

const NODE_MODULES = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const LICENCE_FILE = /^(?:licen[cs]e|notice|copying)\b/i;

type BundledModule = {
  readonly code: string;
  /** Paths of the bundled modules, relative to the project. */
  readonly inputs: readonly string[];
};

/** `module`: the compiled module that the bundle replaces, a path in the package. */
export function bundleModule(module: string, projectDir: string): BundledModule {
  const { outputFiles, metafile } = buildSync({
    entryPoints: [module.replace(/js$/, 'ts')],
    absWorkingDir: projectDir,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'eof',
    logLevel: 'warning',
  });
  return { code: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) };
}

/** One text with the licences of all packages among `inputs`, paths relative to `projectDir`. */
export function licencesOf(inputs: readonly string[], projectDir: string): string {
  const folders = new Set(inputs.flatMap((input) => NODE_MODULES.exec(input)?.[0] ?? []));
  return [...folders]
    .sort()
    .map((folder) => licenceOf(join(projectDir, folder)))
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  if (files.length === 0 && license === undefined)
    throw new PackagingError(
      `collecting licences: ${name} ${version} names no licence; do not bundle it before you know its licence`,
    );
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${[`${name} ${version} (${license})`, ...texts].join('\n\n')}\n`;
}
