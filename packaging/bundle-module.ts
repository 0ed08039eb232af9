/**
 * Bundles a module with the packages that it imports. Installed as dependencies they would be much
 * larger: echarts is larger than all of the rest of the CLI, and fflate has eight builds.
 */
import { buildSync } from 'esbuild';

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
