/** A construct as a user of the package creates it, and its permissions. */
import { readFileSync } from 'node:fs';
import { Stack } from 'aws-cdk-lib';
import type { Role } from 'aws-cdk-lib/aws-iam';
import { ProvisionerAutoscaler, type Settings } from 'coder-provisioner-autoscaler';
import { newApp, templateOf } from './synthesized.ts';
import { statementsOf } from './template-parts.ts';

export type Deployed = { readonly stack: Stack; readonly autoscaler: ProvisionerAutoscaler };

export function deploy(settings: Settings): Deployed {
  const stack = new Stack(newApp(), 'Test');
  return { stack, autoscaler: new ProvisionerAutoscaler(stack, 'Autoscaler', settings) };
}

export const idOf = (stack: Stack, construct: { node: { defaultChild?: unknown } }): string =>
  stack.getLogicalId(construct.node.defaultChild as never);

/** Statements as they are in the template, with the actions as one list. */
export type Statement = {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
};

export function statementsFor(stack: Stack, role: Role): readonly Statement[] {
  return statementsOf(templateOf(stack), idOf(stack, role)) as Statement[];
}

export const actionsIn = (statements: readonly Statement[]): string[] =>
  statements.flatMap(({ Action }) => Action).toSorted();

/** The actions that an adapter imports from the SDK. */
export function callsIn(adapter: string, service: string): string[] {
  const text = readFileSync(adapter, 'utf8');
  const imported = /import \{([^}]*)\} from '@aws-sdk/.exec(text)?.[1] ?? '';
  return [...imported.matchAll(/\bpaginate(\w+)|\b(\w+)Command\b/g)].map(
    ([, paged, called]) => `${service}:${paged ?? called}`,
  );
}
