/**
 * Writes the directory that Lambda runs: the bundled handler, the configuration and the CA bundle.
 * The same input gives the same bytes, wherever the checkout and `outDir` are. So CDK's asset hash,
 * and with it the function, changes only if the input changes.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { loadConfig } from '../../lambda/config/load.ts';
import { type HandlerName, handlerFiles } from './handler-files.ts';

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
export function bundleHandler(outDir: string, handler: HandlerName = 'function'): void {
  mkdirSync(outDir, { recursive: true });
  for (const { name, contents } of handlerFiles(handler)) writeFileSync(join(outDir, name), contents);
}

/**
 * Writes the directory of the key function: its handler, and the configuration that the directory
 * of the autoscaler's function has, if it has one.
 */
export function bundleKeyFunction(functionDir: string, outDir: string): void {
  bundleHandler(outDir, 'key-function');
  for (const name of [CONFIG, CA_BUNDLE]) {
    const file = join(functionDir, name);
    if (existsSync(file)) copyFileSync(file, join(outDir, name));
    else rmSync(join(outDir, name), { force: true });
  }
}

const CONFIG = 'autoscaler.yaml';
const CA_BUNDLE = 'ca-bundle.pem';

function copyConfig(configFile: string, outDir: string): void {
  const { caBundle } = loadConfig(configFile);
  const copiedConfig = join(outDir, CONFIG);
  const copiedCaBundle = join(outDir, CA_BUNDLE);
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
  document.setIn(['coder', 'caBundle'], `./${CA_BUNDLE}`);
  return document.toString({ lineWidth: 0 });
}
