/**
 * The CDK app for `cdk synth` and `cdk deploy`. It reads the configuration from `-c config=FILE`,
 * else from autoscaler.yaml. Without either it exits with an error.
 */
import { existsSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { loadDeployment } from '../lambda/config/load.ts';
import { ConfigError } from '../lambda/config/problems/problems.ts';
import { AutoscalerStack } from './stack.ts';

const app = new App();
const configFile = chooseConfigFile(app.node.tryGetContext('config'));
new AutoscalerStack(app, stackNameOrExit(configFile), { autoscaler: { configFile } });

function chooseConfigFile(named: unknown): string {
  if (typeof named === 'string' && named !== '') return named;
  if (existsSync('autoscaler.yaml')) return 'autoscaler.yaml';
  console.error(
    `no configuration: there is no autoscaler.yaml in ${process.cwd()}. Write one from your coderd with "./autoscaler setup --draft", or copy autoscaler.example.yaml and edit it. To use another file, pass -c config=FILE`,
  );
  process.exit(1);
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
