/** Reads the settings of a deployment from a file or from a CDK app, and writes the function's files. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { stringify } from 'yaml';
import type * as z from 'zod';
import { checkConfig } from '../../lambda/config/check.ts';
import { type LoadedConfig, loadConfig } from '../../lambda/config/load.ts';
import { ConfigError } from '../../lambda/config/problems/problems.ts';
import { checkPoolCount } from '../../lambda/config/rules/deployment-rules.ts';
import { checkSizes } from '../../lambda/config/rules/size-rules.ts';
import type { configSchema } from '../../lambda/config/schema/schema.ts';
import { toStoredConfig } from '../../lambda/config/stored-config.ts';
import { parseYaml } from '../../lambda/config/yaml-source.ts';
import { bundleFunction, bundleHandler } from './bundle.ts';
import { ConfigParameters } from './plain/config-parameters.ts';
import { isPlain } from './plain/plain-stack.ts';

/**
 * The content of autoscaler.yaml; docs/settings.md lists every setting. A relative `coder.caBundle`
 * is relative to the working directory.
 */
export type Settings = Omit<Written, 'pools'> & { readonly pools: PoolSettings[] };

type Written = z.input<typeof configSchema>;
type WrittenPool = Written['pools'][number];

/** An entry of `pools`: it has one of `key`, `psk` and `token`. */
type PoolSettings = WrittenPool & (With<'key'> | With<'psk'> | With<'token'>);

type With<Way extends keyof WrittenPool> = { [name in Way]: NonNullable<WrittenPool[name]> };

/**
 * The settings themselves, or `configFile`: the path of a file with them. A relative path is
 * relative to the working directory.
 */
export type SettingsSource = Settings | { readonly configFile: string };

/** `parameters`: the settings, if they are not in the directory of the function. */
export type Bundled = LoadedConfig & { readonly parameters?: ConfigParameters };

/**
 * Reads the settings, and writes the files that Lambda runs to `functionDir`: with the settings, or
 * in a plain template without. Throws a ConfigError with every problem, by file and line or by prop.
 */
export function bundle(scope: Construct, source: SettingsSource, functionDir: string): Bundled {
  const { configFile, loaded } = load(source, functionDir);
  if (!isPlain(scope)) {
    bundleFunction({ configFile, outDir: functionDir });
    return loaded;
  }
  bundleHandler(functionDir);
  const parsed = parseYaml(readFileSync(configFile, 'utf8'));
  const settings = parsed.kind === 'parsed' ? parsed.value : undefined;
  const stored = toStoredConfig(settings, loaded.caBundle);
  return { ...loaded, parameters: new ConfigParameters(scope, 'Config', stored) };
}

type Loaded = { readonly configFile: string; readonly loaded: LoadedConfig };

function load(source: SettingsSource, functionDir: string): Loaded {
  if ('configFile' in source)
    return { configFile: source.configFile, loaded: loadConfig(source.configFile, checkSizes) };
  refuseTokens(source);
  // Check before the file is written: a problem must not refer to a file that the user did not
  // write.
  const { warnings } = checkConfig(source, checkPoolCount);
  const configFile = writeSettings(source, `${functionDir}.yaml`);
  return { configFile, loaded: { ...loadConfig(configFile, checkSizes), warnings } };
}

/** A CDK token has no value yet, so it can be neither checked nor written to a file. */
function refuseTokens(source: Settings): void {
  const paths = tokensIn(source, '');
  if (paths.length === 0) return;
  throw new ConfigError(
    paths.map((path) => ({
      severity: 'error',
      path,
      message:
        'is a CDK token, whose value is known only at deployment; write the value itself, such as the name or ARN',
    })),
  );
}

function tokensIn(value: unknown, path: string): readonly string[] {
  if (Token.isUnresolved(value)) return [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => tokensIn(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    tokensIn(item, path === '' ? name : `${path}.${name}`),
  );
}

function writeSettings({ coder, ...rest }: Settings, file: string): string {
  const caBundle = coder.caBundle === undefined ? undefined : resolve(coder.caBundle);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stringify({ coder: { ...coder, caBundle }, ...rest }));
  return file;
}
