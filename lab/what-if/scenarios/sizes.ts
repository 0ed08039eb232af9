/** Scenarios in the sizes of Coder's validated architectures. Their configurations are in examples/. */
import type { PeopleGroup, Scenario, Template } from '../trace/generate/scenario.ts';
import {
  CLAIM,
  CONTAINER_TEMPLATE,
  IN_BENGALURU,
  IN_BERLIN,
  IN_NEW_YORK,
  LARGE_TEMPLATE,
  MACHINE_TEMPLATE,
} from './parts.ts';

const ORGANIZATION = { organization: 'default', timezone: 'Europe/Berlin' } as const;

const CONTAINER: Template = { name: 'container', ...ORGANIZATION, ...CONTAINER_TEMPLATE };
const MACHINE: Template = { name: 'machine', ...ORGANIZATION, ...MACHINE_TEMPLATE };
const LARGE: Template = { name: 'large', ...ORGANIZATION, ...LARGE_TEMPLATE };

/** The builds of its prebuilt workspaces have a pool of their own. */
const prebuilt = (instances: number): Template => ({
  ...CONTAINER,
  name: 'prebuilt',
  prebuilds: {
    tags: { is_prebuild: 'true' },
    instances,
    instancesAtNight: Math.round(instances / 5),
    claim: CLAIM,
  },
});

const HABITS = { autostartShare: 0.4, freshPerDay: 0.06 } as const;
const STARTS = { startSeconds: [30, 70] } as const;

export const ONE_THOUSAND: Scenario = {
  name: '1k-users',
  description:
    'A thousand accounts in Berlin. All templates are untagged, and all jobs go to the pool "default". Four in ten workspaces start by a schedule, more than half of these at exactly 9:00. In that minute more builds are due than the 60 daemons that the limits allow.',
  config: 'examples/1k-users.yaml',
  timezone: 'Europe/Berlin',
  from: '2026-03-02',
  templates: [CONTAINER, MACHINE],
  groups: [{ users: 1000, ...IN_BERLIN, ...HABITS, templates: { container: 7, machine: 3 } }],
  outages: [],
  ...STARTS,
};

const THREE_SITES_TEMPLATES = { container: 5, machine: 2, large: 1, prebuilt: 2 } as const;
const threeSites = (users: number): readonly PeopleGroup[] => [
  { users: users * 0.6, ...IN_BERLIN, ...HABITS, templates: THREE_SITES_TEMPLATES },
  { users: users * 0.3, ...IN_NEW_YORK, ...HABITS, templates: THREE_SITES_TEMPLATES },
  { users: users * 0.1, ...IN_BENGALURU, ...HABITS, templates: THREE_SITES_TEMPLATES },
];

export const THREE_THOUSAND: Scenario = {
  name: '3k-users',
  description:
    'Berlin, New York and Bengaluru share one deployment. Their mornings are at 5:15, 9:00 and 15:00 in Berlin time. Large templates and prebuilt workspaces have their own pools. On Wednesday at 9:10 coderd is down for ten minutes. All people try again when it is back.',
  config: 'examples/3k-users.yaml',
  timezone: 'Europe/Berlin',
  from: '2026-03-02',
  templates: [CONTAINER, MACHINE, LARGE, prebuilt(30)],
  groups: threeSites(3000),
  outages: [{ day: 2, minute: 550, seconds: 600 }],
  ...STARTS,
};

const DATA: Template = { ...CONTAINER, name: 'notebook', organization: 'data' };

export const TEN_THOUSAND: Scenario = {
  name: '10k-users',
  description:
    'Like 3k-users, with more than three times as many people. A second organization "data" has its own keys and its own pool. On the first day, a Monday, New York has changed its clocks and Berlin has not. Their mornings are an hour closer for three weeks.',
  config: 'examples/10k-users.yaml',
  timezone: 'Europe/Berlin',
  from: '2026-03-09',
  templates: [CONTAINER, MACHINE, LARGE, prebuilt(90), DATA],
  groups: [
    ...threeSites(8000),
    { users: 2000, ...IN_BERLIN, ...HABITS, autostartShare: 0.25, templates: { notebook: 1 } },
  ],
  outages: [],
  ...STARTS,
};
