/**
 * Acknowledges findings of cdk-nag, each with its reason. aws-cdk-lib's `Validations` does the
 * same, but older versions that this construct supports do not have it, or refuse ids with `::`.
 */
import type { IConstruct } from 'constructs';

/** `Validations.ACKNOWLEDGED_RULES_METADATA_KEY`, where cdk-nag reads them. */
const KEY = 'aws:cdk:acknowledged-rules';

export type Acknowledgment = { readonly id: string; readonly reason: string };

export function acknowledge(scope: IConstruct, ...findings: readonly Acknowledgment[]): void {
  for (const { id, reason } of findings) scope.node.addMetadata(KEY, { [id]: reason });
}
