/** Deploys a plain template like CloudFormation, as far as the function depends on it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import * as z from 'zod';
import type { ParametersModel } from '../../lab/world/parameters/model.ts';

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});
type Resources = z.infer<typeof templateSchema>['Resources'];

const parameterSchema = z.object({ Name: z.unknown(), Value: z.string() });
const functionSchema = z.object({
  Code: z.object({ S3Key: z.unknown() }),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
});

export type PlainDeployment = {
  readonly template: Resources;
  readonly environment: Readonly<Record<string, string>>;
  /** The names of the parameters that hold the configuration. */
  readonly parameters: readonly string[];
  /** The unpacked code of the function. */
  readonly codeDir: string;
};

/** Creates the parameters of a written template, and unpacks its function. */
export function deployPlain(outDir: string, stackName: string, model: ParametersModel): PlainDeployment {
  const { Resources } = templateSchema.parse(JSON.parse(readFileSync(join(outDir, 'template.json'), 'utf8')));
  const resolve = (value: unknown) => resolveIn(Resources, stackName, value);
  const names = ofType(Resources, 'AWS::SSM::Parameter').map((properties) => {
    const { Name, Value } = parameterSchema.parse(properties);
    model.put(resolve(Name), Value);
    return resolve(Name);
  });
  const parameters = names.filter((name) => name.includes('/config-'));
  const [lambda] = ofType(Resources, 'AWS::Lambda::Function').map((found) => functionSchema.parse(found));
  const variables = Object.entries(lambda?.Environment.Variables ?? {});
  const codeDir = join(outDir, '..', `code-${stackName}`);
  unpack(join(outDir, 'assets', resolve(lambda?.Code.S3Key)), codeDir);
  const environment = Object.fromEntries(variables.map(([name, value]) => [name, resolve(value)]));
  return { template: Resources, environment, parameters, codeDir };
}

const ofType = (resources: Resources, type: string) =>
  Object.values(resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties }) => Properties);

const intrinsic = z.union([
  z.string(),
  z.object({ Ref: z.string() }),
  z.object({ 'Fn::Join': z.tuple([z.string(), z.array(z.unknown())]) }),
]);

/** Resolves the intrinsic functions that names use. Other resources have their logical id as name. */
function resolveIn(resources: Resources, stackName: string, value: unknown): string {
  const known = intrinsic.parse(value);
  if (typeof known === 'string') return known;
  if ('Fn::Join' in known) {
    const [delimiter, parts] = known['Fn::Join'];
    return parts.map((part) => resolveIn(resources, stackName, part)).join(delimiter);
  }
  if (known.Ref === 'AWS::StackName') return stackName;
  if (known.Ref === 'AssetPrefix') return '';
  const name = resources[known.Ref]?.Properties.Name;
  return name === undefined ? known.Ref : resolveIn(resources, stackName, name);
}

function unpack(zip: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(unzipSync(readFileSync(zip))))
    writeFileSync(join(folder, name), bytes);
}
