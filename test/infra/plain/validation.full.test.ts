/** Five seconds: `.ci/run` and `.ci/nightly` run this file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, it } from 'vitest';
import { PlainStack } from '../../../infra/constructs/plain/plain-stack.ts';
import { ProvisionerAutoscaler } from '../../../infra/constructs/provisioner-autoscaler.ts';
import { FEATURE_FLAGS } from '../../../infra/plain/write-template.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { EVERYTHING } from '../support/synthesized.ts';

const outdir = ownFolder();

it("passes CDK's validation of CloudFormation templates", () => {
  const app = new App({ context: FEATURE_FLAGS, outdir });
  new ProvisionerAutoscaler(new PlainStack(app, 'Plain'), 'Autoscaler', EVERYTHING);
  app.synth();
  const { pluginReports } = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8'));
  expect(pluginReports).toEqual([]);
});
