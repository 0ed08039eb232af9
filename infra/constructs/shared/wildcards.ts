/** Wildcards in what a role may do are acknowledged one by one, each with the reason why AWS or the design forces it. */
import { Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

export type Wildcard = { readonly resource: string; readonly reason: string };

/** Tells cdk-nag why the policies below `scope` name these resources; one that holds no `*` needs no reason. */
export function acknowledgeWildcards(scope: IConstruct, ...wildcards: readonly Wildcard[]): void {
  const stack = Stack.of(scope);
  for (const { resource, reason } of wildcards) {
    const shown = flatten(stack.resolve(resource));
    if (shown.includes('*'))
      Validations.of(scope).acknowledge({ id: `AwsSolutions-IAM5[Resource::${shown}]`, reason });
  }
}

type Reference =
  | string
  | { readonly Ref: string }
  | { readonly 'Fn::GetAtt': readonly [string, string] }
  | { readonly 'Fn::Join': readonly [string, readonly Reference[]] };

/** As cdk-nag writes a reference in the id of a finding: `arn:<AWS::Partition>:ecs:…`. */
function flatten(reference: Reference): string {
  if (typeof reference === 'string') return reference;
  if ('Ref' in reference) return `<${reference.Ref}>`;
  if ('Fn::GetAtt' in reference) return `<${reference['Fn::GetAtt'].join('.')}>`;
  const [delimiter, parts] = reference['Fn::Join'];
  return parts.map(flatten).join(delimiter);
}
