/** Checks that docs/construct.md describes every public method and property. */
import { readFileSync } from 'node:fs';
import { MeteredConstruct, ProvisionerAutoscaler } from 'coder-provisioner-autoscaler';
import { describe, expect, it } from 'vitest';
import { deploy } from '../support/public-api.ts';
import { cpu, deployment } from '../support/synthesized.ts';

describe('docs/construct.md', () => {
  const page = readFileSync('docs/construct.md', 'utf8');
  const methodsOf = (prototype: object): string[] =>
    Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  const { autoscaler } = deploy(deployment([cpu]));
  const properties = Object.keys(autoscaler).filter((name) => name !== 'node');

  it.each([
    ...methodsOf(ProvisionerAutoscaler.prototype),
    ...methodsOf(MeteredConstruct.prototype),
    ...methodsOf(Object.getPrototypeOf(autoscaler.pool('cpu'))),
    ...properties,
    ...Object.keys(autoscaler.pool('cpu')).filter((name) => name !== 'node'),
  ])('describes %s', (name) => expect(page).toMatch(new RegExp(`\`(?:[a-z]+\\.)?${name}[\`(]`)));
});
