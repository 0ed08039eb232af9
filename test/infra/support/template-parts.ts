/** Finds resources in a template. */
import type { Template } from 'aws-cdk-lib/assertions';

/** A resource in the form of CloudFormation. */
export type Resource = ReturnType<Template['findResources']>[string];

export function resourcesOf(template: Template): Readonly<Record<string, Resource>> {
  return template.toJSON().Resources;
}

/** The logical ids of a type. */
export function idsOf(template: Template, type: string): string[] {
  return Object.keys(template.findResources(type));
}

/** The service of a pool, found as the autoscaler finds it. */
export function serviceOf(template: Template, pool: string): Resource {
  const tag = JSON.stringify({ Key: 'coder-autoscaler:pool', Value: pool });
  const services = Object.values(resourcesOf(template)).filter(
    ({ Type, Properties }) => Type === 'AWS::ECS::Service' && JSON.stringify(Properties.Tags).includes(tag),
  );
  const [service] = services;
  if (service === undefined || services.length > 1)
    throw new Error(`finding the service of pool ${pool}: ${services.length} have its tag`);
  return service;
}

/** The task definition of a pool. */
export function taskOf(template: Template, pool: string): Resource['Properties'] {
  return resourcesOf(template)[serviceOf(template, pool).Properties.TaskDefinition.Ref]?.Properties;
}

export type Container = {
  readonly Name: string;
  readonly EntryPoint: readonly string[];
  readonly Command: readonly string[];
  readonly Environment: readonly { readonly Name: string; readonly Value: string }[];
};

/** The provisioner's container as ECS gets it, with the values of mappings. */
export function containerOf(template: Template, pool: string): Container {
  const [container] = taskOf(template, pool).ContainerDefinitions;
  const { Mappings } = template.toJSON();
  const resolve = (part: Text): string => {
    if (typeof part === 'string') return part;
    const [mapping, first, second] = part['Fn::FindInMap'];
    return Mappings[mapping][first][second];
  };
  const environment = container.Environment.map(({ Name, Value }: { Name: string; Value: Text }) => ({
    Name,
    Value: resolve(Value),
  }));
  return { ...container, EntryPoint: container.EntryPoint.map(resolve), Environment: environment };
}

type Text = string | { readonly 'Fn::FindInMap': readonly [string, string, string] };

/** The permissions of a role of this stack. */
export function statementsOf(template: Template, role: string): unknown[] {
  return Object.values(resourcesOf(template))
    .filter(({ Type, Properties }) => Type === 'AWS::IAM::Policy' && Properties.Roles[0].Ref === role)
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
}

/** The logical id of a role that a task definition names. */
export function roleOf(arn: { readonly 'Fn::GetAtt': readonly [string, string] }): string {
  return arn['Fn::GetAtt'][0];
}
