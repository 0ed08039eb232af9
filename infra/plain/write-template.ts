/**
 * Writes the whole autoscaler as a plain CloudFormation template, with its assets, into a folder:
 * for Terraform, StackSets or a service catalogue. It calls neither AWS nor the CDK CLI.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Aspects, Aws, CfnCondition, CfnParameter, Fn, type Stack, Token } from 'aws-cdk-lib';
import { CfnRole } from 'aws-cdk-lib/aws-iam';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import { writeFileWhole } from '../../lambda/shared/whole-file.ts';
import type { ExistingResources } from '../constructs/existing-resources.ts';
import { PlainStack } from '../constructs/plain/plain-stack.ts';
import type { TemplateAsset } from '../constructs/plain/plain-synthesizer.ts';
import { addOutputs, ProvisionerAutoscaler } from '../constructs/provisioner-autoscaler.ts';
import type { SettingsSource } from '../constructs/settings.ts';
import { PlainTemplateError } from '../constructs/shared/errors.ts';
import { zipFolder } from './zip-folder.ts';

/** Where to write a plain template, and what it uses. */
export type TemplateOptions = {
  /** Gets `template.json` and the folder `assets`. It may have those of an earlier run. */
  readonly outDir: string;
  /** Imports existing resources into the stack, without a lookup. @default none */
  readonly existing?: (stack: Stack) => ExistingResources;
};

export type WrittenFile = { readonly file: string; readonly bytes: number };

/** What has been written. */
export type WrittenTemplate = {
  /** The template, whose size counts against the limit of CloudFormation. */
  readonly template: WrittenFile;
  /** The files that the template needs in a bucket. */
  readonly assets: readonly WrittenFile[];
};

/**
 * CDK's feature flags that change a plain template, with the values of cdk.json. They are fixed
 * here, because a template must not depend on the folder in which the command runs.
 */
export const FEATURE_FLAGS = {
  '@aws-cdk/aws-iam:minimizePolicies': true,
  '@aws-cdk/aws-ecs:disableExplicitDeploymentControllerForCircuitBreaker': true,
  '@aws-cdk/aws-ecs:removeDefaultDeploymentAlarm': true,
  '@aws-cdk/aws-ecs:removeEmptyLoadBalancers': true,
} as const;

const TEMPLATE = 'template.json';
const ASSETS = 'assets';
/** Assets are named by a hash of their content. */
const ASSET = /^[0-9a-f]{64}\.[A-Za-z0-9]+$/;
/** What a run leaves that was killed. */
const PART = '.part';
/** CloudFormation accepts a template of 1 MB. A small one is easier to read with line breaks. */
const MOST_INDENTED_BYTES = 900_000;

/**
 * Writes the template of these settings. Throws a ConfigError with every problem of the settings,
 * or a PlainTemplateError for what a plain template cannot have and for an unusable folder.
 */
export function writeTemplate(source: SettingsSource, options: TemplateOptions): WrittenTemplate {
  const { outDir, existing } = options;
  checkFolder(outDir);
  const work = inFolder(tmpdir(), () => mkdtempSync(join(tmpdir(), 'autoscaler-synth-')));
  try {
    const { template, assets } = inFolder(work, () => synthesizePlain(source, { work, existing }));
    return inFolder(outDir, () => {
      mkdirSync(join(outDir, ASSETS), { recursive: true });
      const written = assets.map((asset) => writeAsset(outDir, work, asset));
      const whole = { template: writeJson(outDir, template), assets: written };
      removeOthers(outDir, assets);
      return whole;
    });
  } finally {
    rmSync(work, { recursive: true });
  }
}

type Synthesis = Pick<TemplateOptions, 'existing'> & {
  /** Gets the output of the app, with the sources of the assets. */
  readonly work: string;
};

/** The template of these settings, and the assets that it needs. */
export function synthesizePlain(
  source: SettingsSource,
  { work, existing }: Synthesis,
): { readonly template: unknown; readonly assets: readonly TemplateAsset[] } {
  const app = new App({
    outdir: work,
    autoSynth: false,
    context: FEATURE_FLAGS,
    treeMetadata: false,
    // It takes five seconds, and the tests have done it.
    builtinCloudFormationValidation: false,
  });
  const stack = new PlainStack(app, 'CoderProvisionerAutoscaler');
  const resources = withoutLookups(() => existing?.(stack) ?? {});
  const autoscaler = new ProvisionerAutoscaler(stack, 'Autoscaler', { ...source, ...resources });
  addOutputs(stack, autoscaler, 'The deletion of the stack');
  addBoundary(stack);
  app.synth();
  const template: unknown = JSON.parse(readFileSync(join(work, stack.templateFile), 'utf8'));
  return { template, assets: stack.synthesizer.assets };
}

/**
 * The permissions boundary as a parameter, so that the module of a team can set it. That of the settings, and one
 * that an app sets, goes first.
 */
function addBoundary(stack: PlainStack): void {
  const { valueAsString: value } = new CfnParameter(stack, 'PermissionsBoundary', {
    description:
      'ARN of the managed policy that is the permissions boundary of every role without one. May be empty.',
    default: '',
  });
  const { logicalId: given } = new CfnCondition(stack, 'HasPermissionsBoundary', {
    expression: Fn.conditionNot(Fn.conditionEquals(value, '')),
  });
  Aspects.of(stack).add({
    visit: (node) => {
      if (node instanceof CfnRole && node.permissionsBoundary === undefined)
        node.permissionsBoundary = Token.asString(Fn.conditionIf(given, value, Aws.NO_VALUE));
    },
  });
}

/** A lookup needs an account and a region, which a plain template does not know. */
function withoutLookups<T>(importResources: () => T): T {
  try {
    return importResources();
  } catch (cause) {
    const [, provider] = /context provider ([\w-]+)/.exec(messageOf(cause)) ?? [];
    if (provider === undefined) throw cause;
    throw new PlainTemplateError(
      `importing existing resources: a lookup (${provider}) would have to ask AWS, and a plain template belongs to no account; write ids instead, in the configuration (aws.network: vpc, subnets and securityGroups; aws.cluster) or with from…Attributes()`,
      { cause },
    );
  }
}

/** Refuses a folder that has other files than those of an earlier run. Changes nothing. */
function checkFolder(outDir: string): void {
  if (outDir === '') throw new PlainTemplateError('writing a template: the name of the folder is empty');
  const isOther = (name: string): boolean => ![TEMPLATE, ASSETS, `${TEMPLATE}${PART}`].includes(name);
  const names = namesIn(outDir).filter(isOther);
  const assets = namesIn(join(outDir, ASSETS)).filter((name) => !ASSET.test(name.replace(PART, '')));
  const [first, ...others] = [...names, ...assets.map((name) => join(ASSETS, name))];
  if (first === undefined) return;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  throw new PlainTemplateError(
    `writing to ${outDir}: the folder has other files (${first}${more}); give an empty folder, or one that an earlier run wrote`,
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : cause;
    if (code === 'ENOENT') return [];
    const why = code === 'ENOTDIR' ? 'it is a file' : `it cannot be read (${String(code)})`;
    throw new PlainTemplateError(`writing to ${folder}: ${why}; give another folder`, { cause });
  }
}

/** Throws PlainTemplateError for an error of the file system: the disk may be full. */
function inFolder<T>(outDir: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
    throw new PlainTemplateError(`writing to ${outDir}: ${cause.message}; give another folder`, { cause });
  }
}

/** The assets of an earlier run: its template is whole until this one is. */
function removeOthers(outDir: string, assets: readonly TemplateAsset[]): void {
  const own = new Set(assets.map(({ key }) => key));
  const folder = join(outDir, ASSETS);
  for (const name of readdirSync(folder)) if (!own.has(name)) rmSync(join(folder, name));
  rmSync(join(outDir, `${TEMPLATE}${PART}`), { force: true });
}

/** Writes an asset of the app in `work`, as the file to upload. */
function writeAsset(outDir: string, work: string, { key, source, isFolder }: TemplateAsset): WrittenFile {
  const file = join(outDir, ASSETS, key);
  writeFileWhole(file, isFolder ? zipFolder(join(work, source)) : readFileSync(join(work, source)));
  return { file, bytes: statSync(file).size };
}

function writeJson(outDir: string, template: unknown): WrittenFile {
  const indented = JSON.stringify(template, undefined, 1);
  const text = Buffer.byteLength(indented) > MOST_INDENTED_BYTES ? JSON.stringify(template) : indented;
  const file = join(outDir, TEMPLATE);
  writeFileWhole(file, `${text}\n`);
  return { file, bytes: Buffer.byteLength(text) + 1 };
}
