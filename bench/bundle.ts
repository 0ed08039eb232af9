/** Measures the bundled function: its size, its parts, and the time of a cold import. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundleFunction } from '../infra/constructs/bundle.ts';
import { median } from './shared/statistics.ts';

export type BundleFigures = {
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Median of new processes, with source maps as on Lambda. */
  readonly coldImportMs: number;
  /** The reference: a new process that imports nothing, from start to end, in the same run. */
  readonly bareProcessMs: number;
  /** Largest first. They add up to `bytes`. */
  readonly parts: readonly BundlePart[];
};

export type BundlePart = { readonly name: string; readonly bytes: number };

const RUNS = 10;
const TIMED_IMPORT = `const before = performance.now();
await import(process.argv[1]);
console.log(performance.now() - before);
process.exit();`;

/** Bundles the function with this configuration and measures it. */
export function measureBundle(configFile: string, outDir: string): BundleFigures {
  bundleFunction({ configFile, outDir });
  const file = join(process.cwd(), outDir, 'index.mjs');
  const code = readFileSync(file);
  const runs = Array.from({ length: RUNS }, () => ({ cold: coldImportMs(file), bare: bareProcessMs() }));
  return {
    bytes: code.length,
    gzipBytes: gzipSync(code).length,
    coldImportMs: median(runs.map(({ cold }) => cold)),
    bareProcessMs: median(runs.map(({ bare }) => bare)),
    parts: partsOf(code.toString(), new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))),
  };
}

function coldImportMs(file: string): number {
  const env = { ...process.env, AUTOSCALER_CLUSTER: 'bench', AWS_REGION: 'eu-central-1' };
  const flags = ['--enable-source-maps', '--input-type=module', '--eval', TIMED_IMPORT];
  return Number(execFileSync(process.execPath, [...flags, file], { env, encoding: 'utf8' }));
}

function bareProcessMs(): number {
  const before = performance.now();
  execFileSync(process.execPath, ['--eval', '']);
  return performance.now() - before;
}

/**
 * Assigns each character of the deployed bundle to its source, with the source map of the bundle.
 */
function partsOf(code: string, map: SourceMap): readonly BundlePart[] {
  const sizes = new Map<string, number>();
  for (const [line, text] of code.split('\n').entries())
    for (let column = 0; column <= text.length; column++) {
      const entry = map.findEntry(line, column);
      const part = partOf('originalSource' in entry ? entry.originalSource : undefined);
      sizes.set(part, (sizes.get(part) ?? 0) + 1);
    }
  return [...sizes].map(([name, bytes]) => ({ name, bytes })).sort((a, b) => b.bytes - a.bytes);
}

const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(?:@aws-sdk|@smithy|@aws)\//, 'AWS SDK (@aws-sdk, @smithy)'],
  [/^@aws-lambda-powertools\//, 'Powertools'],
  [/^@middy\//, 'middy'],
];

/** The package, or the family of packages, that a source file belongs to. */
export function partOf(source: string | undefined): string {
  if (source === undefined) return 'bundler runtime';
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source) ?? [];
  if (name === undefined) return 'the autoscaler itself';
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}
