/** What `cdk synth` and `cdk deploy` run. The configuration is `-c config=FILE`, or autoscaler.yaml, or the example. */
import { existsSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { loadDeployment } from '../lambda/config/load.ts';
import { ConfigError } from '../lambda/config/problems/problems.ts';
import { AutoscalerStack } from './stack.ts';

const app = new App();
const configFile = chooseConfigFile(app.node.tryGetContext('config'));
new AutoscalerStack(app, stackNameOrExit(configFile), { autoscaler: { configFile } });

function chooseConfigFile(named: unknown): string {
  if (typeof named === 'string') return named;
  if (existsSync('autoscaler.yaml')) return 'autoscaler.yaml';
  console.error(
    'synthesizing autoscaler.example.yaml: there is no autoscaler.yaml; name another file with -c config=FILE',
  );
  return 'autoscaler.example.yaml';
}

function stackNameOrExit(file: string): string {
  try {
    return loadDeployment(file).config.aws.stack;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
