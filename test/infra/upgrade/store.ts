/**
 * Stores the template of this version, which later versions must be able to upgrade. Run it once for each
 * release: node test/infra/upgrade/store.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { parse } from 'yaml';
import { AutoscalerStack } from '../../../infra/stack.ts';

process.env.CDK_VALIDATION = 'false';
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
const settings = parse(readFileSync('test/infra/upgrade/settings.yaml', 'utf8'));
const stack = new AutoscalerStack(new App({ context }), settings.aws.stack, { autoscaler: settings });
const file = `test/infra/upgrade/${version}.template.snap`;
writeFileSync(file, `${JSON.stringify(Template.fromStack(stack).toJSON())}\n`);
console.log(`wrote ${file}`);
