/** The settings of a deployment, from a file or from a CDK app, and the function's files made with them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { stringify } from 'yaml';
import type * as z from 'zod';
import { checkDeployment } from '../lambda/adapters/config/check.ts';
import { type LoadedConfig, loadDeployment } from '../lambda/adapters/config/load.ts';
import type { configSchema } from '../lambda/adapters/config/schema.ts';
import { bundleFunction } from './bundle.ts';

/** What autoscaler.yaml holds; the README has every setting. A relative `coder.caBundle` lies below the working directory. */
export type Settings = z.input<typeof configSchema>;

export type SettingsSource = Settings | { readonly configFile: string };

/**
 * Reads the settings and fills `functionDir` with what Lambda runs, the settings included. Throws a ConfigError that names every
 * problem: by file and line, or by the prop.
 */
export function bundleWithSettings(source: SettingsSource, functionDir: string): LoadedConfig {
  if ('configFile' in source) return bundle(source.configFile, functionDir);
  // before there is a file, so that no problem is told as one of a file that nobody wrote
  const { warnings } = checkDeployment(source);
  return { ...bundle(writeSettings(source, `${functionDir}.yaml`), functionDir), warnings };
}

function bundle(configFile: string, functionDir: string): LoadedConfig {
  const loaded = loadDeployment(configFile);
  bundleFunction({ configFile, outDir: functionDir });
  return loaded;
}

function writeSettings({ coder, ...rest }: Settings, file: string): string {
  const caBundle = coder.caBundle === undefined ? undefined : resolve(coder.caBundle);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stringify({ coder: { ...coder, caBundle }, ...rest }));
  return file;
}
