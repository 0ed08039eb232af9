/**
 * The changes that CloudFormation would make to turn the resources of one template into those of
 * another.
 */
import { fullDiff, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import type { Template } from 'aws-cdk-lib/assertions';
import { type Resource, resourcesOf } from './template-parts.ts';

export type Resources = Readonly<Record<string, Resource>>;
export type Change = { readonly id: string; readonly type: string; readonly impact: ResourceImpact };

export const REPLACING: ReadonlySet<ResourceImpact> = new Set([
  ResourceImpact.WILL_REPLACE,
  ResourceImpact.MAY_REPLACE,
]);
export const DELETING: ReadonlySet<ResourceImpact> = new Set([...REPLACING, ResourceImpact.WILL_DESTROY]);

/** Types that running tasks use. */
export const USED_BY_TASKS = /^AWS::(IAM|ECS|EC2|SecretsManager|KMS)::|^AWS::Logs::LogGroup$/;

/** The resources of a template, with only the fields that change something in AWS. */
export function propertiesOf(template: Template): Resources {
  const resources = Object.entries(resourcesOf(template));
  return Object.fromEntries(
    resources.map(([id, { Type, Properties, DeletionPolicy }]) => [
      id,
      { Type, Properties, ...(DeletionPolicy && { DeletionPolicy }) },
    ]),
  );
}

/** The resources with only the properties whose change may replace them: what an upgrade must keep. */
export function keptBetweenVersions(resources: Resources): Resources {
  return Object.fromEntries(
    Object.entries(resources).map(([id, resource]) => {
      const mayReplace = (name: string): boolean => {
        const changed = { ...resource, Properties: { ...resource.Properties, [name]: 'another value' } };
        return changesBetween({ [id]: resource }, { [id]: changed }).some(({ impact }) =>
          REPLACING.has(impact),
        );
      };
      const kept = Object.entries(resource.Properties ?? {}).flatMap(([name, value]) => {
        // the comparison reads each policy; it may change in place
        if (name === 'PolicyDocument') return [[name, { Statement: [] }]];
        return mayReplace(name) ? [[name, value]] : [];
      });
      return [id, { ...resource, Properties: Object.fromEntries(kept) }];
    }),
  );
}

export function changesBetween(old: Resources, now: Resources): readonly Change[] {
  const { changes } = fullDiff({ Resources: old }, { Resources: now }).resources;
  return Object.entries(changes).map(([id, { changeImpact }]) => ({
    id,
    type: (old[id] ?? now[id])?.Type ?? '',
    impact: changeImpact,
  }));
}
