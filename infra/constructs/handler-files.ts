/**
 * The files of the bundled handler: `index.mjs` and its source map. The published package contains
 * them. In the checkout esbuild builds them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
/** Only the published package has this folder. */
const prebuiltDir = join(projectDir, 'prebuilt/function');

export type HandlerFile = { readonly name: string; readonly contents: Uint8Array };

export type BuiltHandler = {
  readonly files: readonly HandlerFile[];
  /** Paths of the bundled modules, relative to the project. */
  readonly inputs: readonly string[];
};

/** Bundling takes half a second: an app with several stacks does it once. */
let cached: readonly HandlerFile[] | undefined;

/** The prebuilt files, or else newly built ones. */
export function handlerFiles(): readonly HandlerFile[] {
  cached ??= existsSync(prebuiltDir) ? readPrebuilt() : buildHandler().files;
  return cached;
}

function readPrebuilt(): readonly HandlerFile[] {
  return readdirSync(prebuiltDir)
    .sort()
    .map((name) => ({ name, contents: readFileSync(join(prebuiltDir, name)) }));
}

/** Bundles `lambda/handler.ts`. The same sources give the same bytes. */
export function buildHandler(): BuiltHandler {
  // Loaded here because the published package does not depend on esbuild.
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: projectDir,
    entryPoints: ['lambda/handler.ts'],
    // esbuild does not write this file, but the paths in the source map are relative to it.
    outfile: 'dist/function/index.mjs',
    write: false,
    metafile: true,
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
  const files = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
  return { files, inputs: Object.keys(metafile.inputs) };
}
