/**
 * CDK's feature flags belong to the app, not to the construct. A user may turn them on later. That
 * must not replace a service, because ECS would stop its tasks and their builds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { afterAll, describe, expect, it } from 'vitest';
import type { Settings } from '../../../infra/constructs/settings.ts';
import {
  cpu,
  deployment,
  EVERYTHING,
  EXISTING,
  gpu,
  stackOf,
  synthesize,
  templateOf,
} from '../support/synthesized.ts';
import { changesBetween, DELETING, propertiesOf, type Resources } from '../support/template-changes.ts';

const folder = mkdtempSync(join(tmpdir(), 'flags-'));
afterAll(() => rmSync(folder, { recursive: true }));

function withoutFlags(settings: Settings): Resources {
  const app = new App({ outdir: mkdtempSync(join(folder, 'cdk.out-')) });
  return propertiesOf(templateOf(stackOf(settings, app)));
}

describe.each([
  { name: 'everything', settings: EVERYTHING },
  { name: 'existing', settings: EXISTING },
  { name: 'early success', settings: deployment([cpu, gpu], { earlySuccess: true, bindTaskRoles: true }) },
])('a CDK app that turns on all feature flags: $name', ({ settings }) => {
  const off = withoutFlags(settings);
  const on = propertiesOf(synthesize(settings));
  const changes = changesBetween(off, on);

  it('replaces and deletes nothing', () => {
    expect(changes.filter(({ impact }) => DELETING.has(impact)).map(({ id }) => id)).toEqual([]);
  });

  it('changes neither a service nor a task definition, so no pool rolls', () => {
    expect(changes.filter(({ type }) => type.startsWith('AWS::ECS::'))).toEqual([]);
  });
});
