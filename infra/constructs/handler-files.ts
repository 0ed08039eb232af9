/**
 * The files of the bundled handler: `index.mjs` and its source map. The published package contains
 * them. In the checkout esbuild builds them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
/** Only the published package has this folder: a folder of files for each function. */
const prebuiltDir = join(projectDir, 'prebuilt');

/** The module of each function's handler, relative to the project. */
const ENTRY_POINTS = { function: 'lambda/handler.ts', 'key-function': 'lambda/keys/handler.ts' } as const;
export type HandlerName = keyof typeof ENTRY_POINTS;
export const HANDLER_NAMES = Object.keys(ENTRY_POINTS) as readonly HandlerName[];

export type HandlerFile = { readonly name: string; readonly contents: Uint8Array };

export type BuiltHandler = {
  readonly files: readonly HandlerFile[];
  /** Paths of the bundled modules, relative to the project. */
  readonly inputs: readonly string[];
};

/** Bundling takes half a second: an app with several stacks does it once. */
const cached = new Map<HandlerName, readonly HandlerFile[]>();

/** The prebuilt files, or else newly built ones. */
export function handlerFiles(handler: HandlerName): readonly HandlerFile[] {
  const files =
    cached.get(handler) ?? (existsSync(prebuiltDir) ? readPrebuilt(handler) : buildHandler(handler).files);
  cached.set(handler, files);
  return files;
}

function readPrebuilt(handler: HandlerName): readonly HandlerFile[] {
  const folder = join(prebuiltDir, handler);
  return readdirSync(folder)
    .sort()
    .map((name) => ({
      name: name.slice(0, -PACKED.length),
      contents: brotliDecompressSync(readFileSync(join(folder, name))),
    }));
}

/** The ending of a packed file. */
const PACKED = '.br';
/** A quarter of the size; the best quality would take seconds for a tenth less. */
const QUALITY = 9;

/** A file as the published package has it: bundles and source maps would be half of its size. */
export function packFile({ name, contents }: HandlerFile): HandlerFile {
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY };
  return { name: `${name}${PACKED}`, contents: brotliCompressSync(contents, { params }) };
}

/** Bundles the handler of a function. The same sources give the same bytes. */
export function buildHandler(handler: HandlerName): BuiltHandler {
  // Loaded here because the published package does not depend on esbuild.
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: projectDir,
    entryPoints: [ENTRY_POINTS[handler]],
    // esbuild does not write this file, but the paths in the source map are relative to it.
    outfile: `dist/${handler}/index.mjs`,
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
