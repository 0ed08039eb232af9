/**
 * Acknowledges findings of cdk-nag, each with its reason. aws-cdk-lib's `Validations` does the
 * same, but older versions that this construct supports do not have it, or refuse ids with `::`.
 */
import { Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** `Validations.ACKNOWLEDGED_RULES_METADATA_KEY`, where cdk-nag reads them. */
const KEY = 'aws:cdk:acknowledged-rules';

export type Acknowledgment = { readonly id: string; readonly reason: string };

export function acknowledge(scope: IConstruct, ...findings: readonly Acknowledgment[]): void {
  for (const { id, reason } of findings) scope.node.addMetadata(KEY, { [id]: reason });
}

/** Acknowledges several findings with one reason. */
export function acknowledgeAll(scope: IConstruct, reason: string, ...ids: readonly string[]): void {
  acknowledge(scope, ...ids.map((id) => ({ id, reason })));
}

export type Wildcard = { readonly resource: string; readonly reason: string };

/**
 * Gives cdk-nag the reasons for these wildcard resources in the policies below `scope`. Skips those
 * without `*`.
 */
export function acknowledgeWildcards(scope: IConstruct, ...wildcards: readonly Wildcard[]): void {
  const stack = Stack.of(scope);
  for (const { resource, reason } of wildcards) {
    const shown = flatten(stack.resolve(resource));
    if (shown.includes('*')) acknowledge(scope, { id: `AwsSolutions-IAM5[Resource::${shown}]`, reason });
  }
}

type Reference =
  | string
  | { readonly Ref: string }
  | { readonly 'Fn::GetAtt': readonly [string, string] }
  | { readonly 'Fn::Join': readonly [string, readonly Reference[]] };

/** The reference as cdk-nag writes it in the id of a finding: `arn:<AWS::Partition>:ecs:…`. */
function flatten(reference: Reference): string {
  if (typeof reference === 'string') return reference;
  if ('Ref' in reference) return `<${reference.Ref}>`;
  if ('Fn::GetAtt' in reference) return `<${reference['Fn::GetAtt'].join('.')}>`;
  const [delimiter, parts] = reference['Fn::Join'];
  return parts.map(flatten).join(delimiter);
}
