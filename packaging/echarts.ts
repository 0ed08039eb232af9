/**
 * Bundles the parts of echarts that draw the report's static pictures. Installed as a dependency,
 * echarts would be larger than all of the rest of the CLI.
 */
import { buildSync } from 'esbuild';

type BundledModule = {
  readonly code: string;
  /** Paths of the bundled modules, relative to the project. */
  readonly inputs: readonly string[];
};

/** The compiled module that the bundle replaces. */
export const ECHARTS_MODULE = 'backtest/report/charts/echarts.js';

export function bundleEcharts(projectDir: string): BundledModule {
  const { outputFiles, metafile } = buildSync({
    entryPoints: [ECHARTS_MODULE.replace(/js$/, 'ts')],
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
