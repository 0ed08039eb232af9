/**
 * An upgrade from each released version: the stored templates were synthesized by that version from
 * settings.yaml. Functions and dashboards may change in place; nothing may be replaced or removed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fullDiff, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { synthesize } from '../support/synthesized.ts';

const folder = new URL('.', import.meta.url);
const stored = readdirSync(folder).filter((file) => file.endsWith('.template.snap'));
const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8');
const now = synthesize(parse(read('settings.yaml'))).toJSON();

const HARMLESS: ReadonlySet<ResourceImpact> = new Set([
  ResourceImpact.NO_CHANGE,
  ResourceImpact.WILL_CREATE,
  ResourceImpact.WILL_UPDATE,
]);

/** A changed guard.sh makes a new revision. Pools roll to it, and running builds finish. */
const REVISION = 'AWS::ECS::TaskDefinition';

/** The resources that the deployment of `template` over `standing` replaces or deletes. */
function endangered(standing: Record<string, unknown>, template: Record<string, unknown>): readonly string[] {
  const { changes } = fullDiff(structuredClone(standing), structuredClone(template)).resources;
  return Object.entries(changes).flatMap(([id, { changeImpact, newResourceType }]) =>
    HARMLESS.has(changeImpact) || newResourceType === REVISION ? [] : [`${id}: ${changeImpact}`],
  );
}

describe('an upgrade', () => {
  it('has a stored template of at least one version', () => {
    expect(stored.length).toBeGreaterThan(0);
  });

  it.each(stored)('from %s replaces and deletes nothing', (file) => {
    expect(endangered(JSON.parse(read(file)), now)).toEqual([]);
  });

  it('that replaced a service would be seen', () => {
    const [id = '', service] =
      Object.entries<Record<string, object>>(now.Resources).find(
        ([, { Type }]) => String(Type) === 'AWS::ECS::Service',
      ) ?? [];
    const renamed = { ...service, Properties: { ...service?.Properties, ServiceName: 'other' } };
    const changed = { ...now, Resources: { ...now.Resources, [id]: renamed } };
    expect(endangered(now, changed)).toContain(`${id}: WILL_REPLACE`);
  });
});
