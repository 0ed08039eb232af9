/**
 * Deploys this version over earlier ones. `kept/<version>/` has the resources that each version made of some
 * settings, with the properties that CloudFormation replaces a resource for. The settings that have ended are left
 * out of them, as docs/upgrade.md says. The tests compare them with those of
 * this version. To store those of the version in package.json after a release: `UPGRADE_BASELINE=write npx vitest
 * run test/infra/upgrade`.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../infra/constructs/settings.ts';
import {
  cpu,
  deployment,
  EVERYTHING,
  EXISTING,
  gpu,
  MINIMAL,
  newApp,
  stackOf,
  synthesize,
  templateOf,
} from '../support/synthesized.ts';
import {
  changesBetween,
  DELETING,
  keptBetweenVersions,
  propertiesOf,
  REPLACING,
  type Resources,
  USED_BY_TASKS,
} from '../support/template-changes.ts';
import { idsOf } from '../support/template-parts.ts';

const folder = fileURLToPath(new URL('kept', import.meta.url));

const DEPLOYMENTS: Readonly<Record<string, Settings>> = {
  minimal: MINIMAL,
  everything: EVERYTHING,
  existing: EXISTING,
  'early-success': deployment([cpu, gpu], { earlySuccess: true, bindTaskRoles: true }),
};

/** One deployment of an earlier version. */
type Deployed = { readonly settings: Settings; readonly resources: Resources };

if (process.env.UPGRADE_BASELINE === 'write') writeBaseline();

function writeBaseline(): void {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  mkdirSync(`${folder}/${version}`, { recursive: true });
  for (const [name, settings] of Object.entries(DEPLOYMENTS)) {
    const deployed: Deployed = {
      settings,
      resources: keptBetweenVersions(propertiesOf(synthesize(settings))),
    };
    // a released version does not change: "wx" refuses to overwrite its files
    writeFileSync(`${folder}/${version}/${name}.snap`, deployedText(deployed), { flag: 'wx' });
  }
}

/** A resource a line. */
function deployedText({ settings, resources }: Deployed): string {
  const lines = Object.entries(resources)
    .filter(([, { Type }]) => Type !== REVISION)
    .map(([id, resource]) => `"${id}":${JSON.stringify(resource)}`);
  return `{"settings":${JSON.stringify(settings)},\n"resources":{\n${lines.join(',\n')}}}\n`;
}

const baselines = readdirSync(folder).flatMap((version) =>
  readdirSync(`${folder}/${version}`).map((file) => ({
    version,
    file,
    path: `${folder}/${version}/${file}`,
  })),
);

/** The resources that the upgrade deletes although running tasks may use them. */
function deletedUnderTasks(old: Resources, now: Resources): readonly string[] {
  return changesBetween(old, now)
    .filter(({ impact, type }) => DELETING.has(impact) && USED_BY_TASKS.test(type))
    .filter(({ type }) => type !== REVISION)
    .map(({ id }) => id);
}

/** A deployment makes new revisions of task definitions. Running tasks do not need the old one. */
const REVISION = 'AWS::ECS::TaskDefinition';

function replaced(old: Resources, now: Resources): readonly string[] {
  return changesBetween(old, now)
    .filter(({ impact, type }) => REPLACING.has(impact) && type !== REVISION)
    .map(({ id }) => id);
}

it('compares with at least one version', () => {
  expect(baselines.length).toBeGreaterThanOrEqual(Object.keys(DEPLOYMENTS).length);
});

describe.each(baselines)('an upgrade of the deployment $file from version $version', ({ path }) => {
  const { settings, resources: old }: Deployed = JSON.parse(readFileSync(path, 'utf8'));
  const now = propertiesOf(synthesize(settings));

  it('replaces nothing but revisions of task definitions', () => {
    expect(replaced(old, now)).toEqual([]);
  });

  it('deletes nothing that running tasks use', () => {
    expect(deletedUnderTasks(old, now)).toEqual([]);
  });

  it('keeps the service of each pool', () => {
    const services = (resources: Resources): string[] =>
      Object.keys(resources).filter((id) => resources[id]?.Type === 'AWS::ECS::Service');
    expect(services(now)).toEqual(services(old));
  });
});

describe('the comparison of an upgrade', () => {
  const old = propertiesOf(synthesize(MINIMAL));
  const [service = ''] = idsOf(synthesize(MINIMAL), 'AWS::ECS::Service');
  const { [service]: resource, ...others } = old;
  const withService = (id: string, properties: object): Resources =>
    resource === undefined
      ? others
      : { ...others, [id]: { ...resource, Properties: { ...resource.Properties, ...properties } } };

  it('finds a service whose logical id has changed', () => {
    expect(deletedUnderTasks(old, withService('Renamed', {}))).toEqual([service]);
  });

  it.each([{ Cluster: 'other' }, { ServiceName: 'fixed' }, { LaunchType: 'FARGATE' }])(
    'finds a service that CloudFormation replaces because of %o',
    (properties) => expect(replaced(old, withService(service, properties))).toEqual([service]),
  );

  it('finds a deleted role of a task', () => {
    const [role = ''] = Object.keys(old).filter((id) => /TaskTaskRole[0-9A-F]{8}$/.test(id));
    const { [role]: _, ...without } = old;
    expect(deletedUnderTasks(old, without)).toEqual([role]);
  });
});

// * CDK's feature flags belong to the app, not to the construct. A user may turn them on later. That must not replace a service, because ECS would stop its tasks and their builds.

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
