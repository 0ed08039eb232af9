/** Synthesizes what `cdk deploy` would create: runs the CDK app offline, as the CDK CLI does. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { mapping } from '../../lambda/shared/mapping.ts';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));

const templateSchema = z.object({
  Resources: mapping(
    z.string(),
    z.object({
      Type: z.string(),
      Properties: mapping(z.string(), z.unknown()).default({}),
      Metadata: mapping(z.string(), z.unknown()).default({}),
    }),
  ),
});
type Resource = z.infer<typeof templateSchema>['Resources'][string];

const functionSchema = z.object({
  Timeout: z.number(),
  Environment: z.object({ Variables: mapping(z.string(), z.unknown()) }),
});

export type SynthesizedStack = {
  readonly resources: Readonly<Record<string, Resource>>;
  readonly function: {
    readonly dir: string;
    readonly timeoutMs: number;
    /** Its environment variables, except those that refer to resources. */
    readonly environment: Readonly<Record<string, string>>;
  };
};

/** Synthesizes the stack of a configuration into a folder. Throws the app's own error message. */
export function synthesizeStack(configText: string, outDir: string): SynthesizedStack {
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  const configFile = resolve(outDir, 'autoscaler.yaml');
  writeFileSync(configFile, configText);
  runApp(configFile, resolve(outDir));
  const { artifacts } = JSON.parse(readFileSync(join(outDir, 'manifest.json'), 'utf8'));
  const [stack] = Object.keys(artifacts).filter(
    (name) => artifacts[name].type === 'aws:cloudformation:stack',
  );
  const template: unknown = JSON.parse(readFileSync(join(outDir, `${stack}.template.json`), 'utf8'));
  const { Resources } = templateSchema.parse(template);
  return { resources: Resources, function: functionOf(Resources, outDir) };
}

function runApp(configFile: string, outDir: string): void {
  const { context } = JSON.parse(readFileSync(join(projectDir, 'cdk.json'), 'utf8'));
  const given = { ...context, config: configFile, 'aws:cdk:enable-asset-metadata': true };
  const env = {
    ...process.env,
    CDK_OUTDIR: outDir,
    CDK_CONTEXT_JSON: JSON.stringify(given),
    // Validation takes longer than all the rest.
    CDK_VALIDATION: 'false',
  };
  execFileSync(process.execPath, ['infra/app.ts'], {
    cwd: projectDir,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function variablesOf(properties: Resource['Properties']): Readonly<Record<string, unknown>> {
  return functionSchema.safeParse(properties).data?.Environment.Variables ?? {};
}

function functionOf(resources: SynthesizedStack['resources'], outDir: string): SynthesizedStack['function'] {
  const lambdas = Object.values(resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
  // the key function and CDK's provider have no queue that starts looks
  const lambda = lambdas.find(({ Properties }) => 'AUTOSCALER_QUEUE_URL' in variablesOf(Properties));
  const { Timeout, Environment } = functionSchema.parse(lambda?.Properties);
  const literal = Object.entries(Environment.Variables).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    dir: resolve(outDir, String(lambda?.Metadata['aws:asset:path'])),
    timeoutMs: Timeout * 1000,
    environment: Object.fromEntries(literal),
  };
}
