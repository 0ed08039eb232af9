/** What `cdk synth` and `cdk deploy` run. The configuration is `-c config=FILE`, or autoscaler.yaml, or the example. */
import { existsSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { type LoadedConfig, loadConfig } from '../lambda/adapters/config/load.ts';
import { ConfigError, formatProblem } from '../lambda/adapters/config/problems.ts';
import { bundleFunction } from './bundle.ts';
import { AutoscalerStack } from './stack.ts';

const functionDir = 'dist/function';

const app = new App();
const configFile = chooseConfigFile(app.node.tryGetContext('config'));
const { config, warnings } = loadOrExit(configFile);
for (const warning of warnings) console.error(formatProblem(warning));
bundleFunction({ configFile, outDir: functionDir });
new AutoscalerStack(app, 'CoderProvisionerAutoscaler', { config, functionDir });

function chooseConfigFile(named: unknown): string {
  if (typeof named === 'string') return named;
  if (existsSync('autoscaler.yaml')) return 'autoscaler.yaml';
  console.error(
    'synthesizing autoscaler.example.yaml: there is no autoscaler.yaml; name another file with -c config=FILE',
  );
  return 'autoscaler.example.yaml';
}

function loadOrExit(file: string): LoadedConfig {
  try {
    return loadConfig(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
