/** Each finding of cdk-nag in a deployment is acknowledged, with a reason. */
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { AwsSolutionsChecks, type NagPack, ServerlessChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { normalized } from './support/normalized.ts';
import {
  ALTERNATIVES,
  EVERYTHING,
  EXISTING,
  MANAGED_KEYS,
  MINIMAL,
  stackOf,
  synthesize,
} from './support/synthesized.ts';

const PACKS = [new AwsSolutionsChecks(), new ServerlessChecks()];

/** `AwsSolutions-IAM5[Resource::*] Test/Autoscaler/…`. */
function findingsOf(scope: IConstruct, packs: readonly NagPack[] = PACKS): readonly string[] {
  return packs.flatMap((pack) =>
    pack
      .validateScope(scope)
      .violations.flatMap(({ ruleName, violatingResources }) =>
        violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
      ),
  );
}

describe('AwsSolutions and Serverless', () => {
  it.each([
    { deployment: 'a minimal deployment', settings: MINIMAL },
    { deployment: 'a deployment with everything on', settings: EVERYTHING },
    { deployment: 'one with bound roles', settings: { ...MINIMAL, aws: { bindTaskRoles: true } } },
    { deployment: 'one with GuardDuty', settings: { ...MINIMAL, aws: { guardDuty: true } } },
    { deployment: 'one with managed keys', settings: MANAGED_KEYS },
    {
      deployment: 'one with two kinds of capacity',
      settings: {
        ...MANAGED_KEYS,
        pools: MANAGED_KEYS.pools.map((pool) => ({
          ...pool,
          capacity: ['spot' as const, 'on-demand' as const],
        })),
      },
    },
    {
      deployment: 'one on instances',
      settings: {
        ...MINIMAL,
        pools: MINIMAL.pools.map((pool) => ({ ...pool, capacity: { provider: 'builders' } })),
      },
    },
    { deployment: 'a deployment into an existing VPC and cluster', settings: EXISTING },
    { deployment: 'a deployment with what the others leave out', settings: ALTERNATIVES },
  ])('report only acknowledged findings in $deployment', ({ settings }) => {
    expect(findingsOf(stackOf(settings))).toEqual([]);
  });

  it.each([
    { deployment: 'with everything on', settings: EVERYTHING },
    { deployment: 'with what that leaves out', settings: ALTERNATIVES },
  ])('give a reason for each acknowledged finding in a deployment $deployment', ({ settings }) => {
    const metadata = stackOf(settings)
      .node.findAll()
      .flatMap(({ node }) => node.metadata.filter(({ type }) => type === 'aws:cdk:acknowledged-rules'));
    const reasons = metadata.flatMap(({ data }) => Object.entries<string>(data));
    expect(reasons.length).toBeGreaterThan(20);
    expect(reasons.filter(([, reason]) => !/^\w.{30,}$/.test(reason))).toEqual([]);
  });

  it('report a finding of an added bucket', () => {
    const stack = stackOf(MINIMAL);
    new Bucket(stack, 'Bucket');
    expect(findingsOf(stack)).toContain('AwsSolutions-S1 Test/Bucket/Resource');
  });
});

/**
 * For reviews: the difference shows how a change alters a deployment with all settings. `npx vitest
 * -u` writes the file again.
 */
it.each([
  { what: 'everything on', settings: EVERYTHING, file: 'everything' },
  { what: 'what that leaves out', settings: ALTERNATIVES, file: 'alternatives' },
])('makes this template of a deployment with $what', async ({ settings, file }) => {
  const template = normalized(synthesize(settings).toJSON());
  await expect(
    template,
    'a resource whose logical id changes is deleted and made anew by the next deployment: for a service that means that its tasks are stopped, builds and all; give the construct its old id and scope back',
  ).toMatchFileSnapshot(`__snapshots__/${file}.template.snap`);
});
