/**
 * CDK's feature flags belong to the app, not to the construct. A user may turn them on later. That
 * must not replace a service, because ECS would stop its tasks and their builds.
 */
import { describe, expect, it } from 'vitest';
import {
  cpu,
  deployment,
  EVERYTHING,
  EXISTING,
  gpu,
  newApp,
  stackOf,
  synthesize,
  templateOf,
} from '../support/synthesized.ts';
import { changesBetween, DELETING, propertiesOf } from '../support/template-changes.ts';

describe.each([
  { name: 'everything', settings: EVERYTHING },
  { name: 'existing', settings: EXISTING },
  { name: 'early success', settings: deployment([cpu, gpu], { earlySuccess: true, bindTaskRoles: true }) },
])('a CDK app that turns on all feature flags: $name', ({ settings }) => {
  const off = propertiesOf(templateOf(stackOf(settings, newApp({}))));
  const on = propertiesOf(synthesize(settings));
  const changes = changesBetween(off, on);

  it('replaces and deletes nothing', () => {
    expect(changes.filter(({ impact }) => DELETING.has(impact)).map(({ id }) => id)).toEqual([]);
  });

  it('changes neither a service nor a task definition, so no pool rolls', () => {
    expect(changes.filter(({ type }) => type.startsWith('AWS::ECS::'))).toEqual([]);
  });
});
