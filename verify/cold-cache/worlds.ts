/** The worlds on which the estimate is tried. */
import type { InitWork } from '../../simulator/base/daemon-connection.ts';
import type { ColdWorldOptions } from './options.ts';

const init = (warmMs: number, providers: InitWork['providers'], spread = 0.3): InitWork => ({
  ...{ warmMs, providers, spread },
});
const docker = init(3_000, { 'coder 2.12': 2_000, 'docker 3.6': 8_000 });
const aws = init(4_000, { 'coder 2.12': 2_000, 'aws 6.20': 20_000 });
const kubernetes = init(3_000, { 'coder 2.12': 2_000, 'kubernetes 2.38': 6_000 });

type NamedWorld = Omit<ColdWorldOptions, 'seed'>;

/** By name. Several templates share the provider of coder. */
export const COLD_WORLDS: Readonly<Record<string, NamedWorld>> = {
  'two templates': { templates: { docker, aws }, buildsPerDay: 120 },
  'three templates, many builds': { templates: { docker, aws, kubernetes }, buildsPerDay: 400 },
  'one template': { templates: { aws }, buildsPerDay: 80 },
  'much noise': {
    templates: { docker: { ...docker, spread: 0.6 }, aws: { ...aws, spread: 0.6 } },
    buildsPerDay: 200,
  },
  'tasks that wait for builds, dry runs': {
    ...{ templates: { docker, aws }, buildsPerDay: 150 },
    ...{ staying: 2, dryRuns: 0.3 },
  },
  'long-lived tasks': { templates: { docker, aws }, buildsPerDay: 200, idleMinutes: 60 },
  'many failures': { templates: { docker, aws }, buildsPerDay: 150, failing: 0.2 },
  'few builds': { templates: { docker, aws }, buildsPerDay: 20 },
  'no penalty': { templates: { docker: init(3_000, {}), aws: init(12_000, {}) }, buildsPerDay: 150 },
  'no penalty, much noise': { templates: { docker: init(3_000, {}, 0.6) }, buildsPerDay: 150 },
};
