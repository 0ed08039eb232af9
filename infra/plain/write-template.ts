/**
 * Writes the whole autoscaler as a plain CloudFormation template, with its assets, into a folder:
 * for Terraform, StackSets or a service catalogue. It calls neither AWS nor the CDK CLI.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Stack } from 'aws-cdk-lib';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { ExistingResources } from '../constructs/existing-resources.ts';
import { addOutputs } from '../constructs/outputs.ts';
import { PlainStack } from '../constructs/plain/plain-stack.ts';
import { PlainTemplateError } from '../constructs/plain/plain-template-error.ts';
import { ProvisionerAutoscaler } from '../constructs/provisioner-autoscaler.ts';
import type { SettingsSource } from '../constructs/settings.ts';
import { FEATURE_FLAGS } from './feature-flags.ts';
import { checkFolder, clearFolder, type WrittenFile, writeAsset, writeJson } from './template-folder.ts';

export type TemplateOptions = {
  /** Gets `template.json` and the folder `assets`. It may have those of an earlier run. */
  readonly outDir: string;
  /** Imports existing resources into the stack, without a lookup. @default none */
  readonly existing?: (stack: Stack) => ExistingResources;
};

export type { WrittenFile };

export type WrittenTemplate = { readonly template: WrittenFile; readonly assets: readonly WrittenFile[] };

/**
 * Writes the template of these settings. Throws a ConfigError with every problem of the settings,
 * or a PlainTemplateError for what a plain template cannot have and for an unusable folder.
 */
export function writeTemplate(source: SettingsSource, options: TemplateOptions): WrittenTemplate {
  checkFolder(options.outDir);
  const work = mkdtempSync(join(tmpdir(), 'autoscaler-synth-'));
  try {
    return synthesize(source, { ...options, work });
  } finally {
    rmSync(work, { recursive: true });
  }
}

const ID = 'CoderProvisionerAutoscaler';

function synthesize(
  source: SettingsSource,
  { work, outDir, existing }: TemplateOptions & { readonly work: string },
): WrittenTemplate {
  const app = new App({
    outdir: work,
    autoSynth: false,
    context: FEATURE_FLAGS,
    treeMetadata: false,
    // It takes five seconds, and the tests have done it.
    builtinCloudFormationValidation: false,
  });
  const stack = new PlainStack(app, ID);
  const resources = withoutLookups(() => existing?.(stack) ?? {});
  const autoscaler = new ProvisionerAutoscaler(stack, 'Autoscaler', { ...source, ...resources });
  addOutputs(stack, autoscaler, 'The deletion of the stack');
  app.synth();
  clearFolder(outDir);
  const assets = stack.synthesizer.assets.map((asset) => writeAsset(outDir, work, asset));
  const template: unknown = JSON.parse(readFileSync(join(work, stack.templateFile), 'utf8'));
  return { template: writeJson(outDir, template), assets };
}

/** A lookup needs an account and a region, which a plain template does not know. */
function withoutLookups<T>(importResources: () => T): T {
  try {
    return importResources();
  } catch (cause) {
    const said = messageOf(cause);
    const [, provider] = /context provider ([\w-]+)/.exec(said) ?? [];
    if (provider === undefined) throw cause;
    throw new PlainTemplateError(
      `importing existing resources: a lookup (${provider}) would have to ask AWS, and a plain template belongs to no account; write ids instead, in the configuration (aws.network: vpc, subnets and securityGroups; aws.cluster) or with from…Attributes()`,
      { cause },
    );
  }
}
