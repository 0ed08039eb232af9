/**
 * Writes the directory that Lambda runs: the bundled handler, the configuration and the CA bundle.
 * The same input gives the same bytes, wherever the checkout and `outDir` are. So CDK's asset hash,
 * and with it the function, changes only if the input changes.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { parseDocument } from 'yaml';
import { loadConfig } from '../../lambda/config/load.ts';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));

/** Paths of the configuration and of the output directory. Other files in `outDir` stay. */
export type FunctionBundle = { readonly configFile: string; readonly outDir: string };

/**
 * Writes `index.mjs`, its source map, `autoscaler.yaml` and, if the configuration has one,
 * `ca-bundle.pem`. Throws a ConfigError for a configuration that cannot be used.
 */
export function bundleFunction({ configFile, outDir }: FunctionBundle): void {
  bundleHandler(outDir);
  copyConfig(configFile, outDir);
}

/** Writes `index.mjs` and its source map. */
export function bundleHandler(outDir: string): void {
  mkdirSync(outDir, { recursive: true });
  for (const { name, contents } of bundledHandler()) writeFileSync(join(outDir, name), contents);
}

type File = { readonly name: string; readonly contents: Uint8Array };

/** Bundling takes half a second: an app with several stacks does it once. */
let bundled: readonly File[] | undefined;

function bundledHandler(): readonly File[] {
  bundled ??= buildHandler();
  return bundled;
}

function buildHandler(): readonly File[] {
  const { outputFiles } = buildSync({
    absWorkingDir: projectDir,
    entryPoints: ['lambda/handler.ts'],
    // esbuild does not write this file, but the paths in the source map are relative to it.
    outfile: 'dist/function/index.mjs',
    write: false,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    sourcemap: true,
    sourcesContent: false,
    // Some dependencies are CommonJS and call `require`, which ES modules do not have.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  return outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
}

function copyConfig(configFile: string, outDir: string): void {
  const { caBundle } = loadConfig(configFile);
  const copiedConfig = join(outDir, 'autoscaler.yaml');
  const copiedCaBundle = join(outDir, 'ca-bundle.pem');
  if (caBundle === undefined) {
    rmSync(copiedCaBundle, { force: true });
    copyFileSync(configFile, copiedConfig);
  } else {
    writeFileSync(copiedCaBundle, caBundle);
    writeFileSync(copiedConfig, withBundledCaPath(readFileSync(configFile, 'utf8')));
  }
}

function withBundledCaPath(configText: string): string {
  const document = parseDocument(configText);
  document.setIn(['coder', 'caBundle'], './ca-bundle.pem');
  return document.toString({ lineWidth: 0 });
}
