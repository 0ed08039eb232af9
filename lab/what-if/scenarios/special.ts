/** A small team, overlapping GPU pools, prebuilt workspaces, bursts, agents. */
import type { Scenario, Template } from '../trace/generate/scenario.ts';
import {
  CLAIM,
  CONTAINER_TEMPLATE,
  IN_BENGALURU,
  IN_BERLIN,
  IN_NEW_YORK,
  LARGE_TEMPLATE,
  MACHINE_TEMPLATE,
} from './parts.ts';

const IN_DEFAULT = { organization: 'default', timezone: 'Europe/Berlin' } as const;
const IN_RESEARCH = { organization: 'research', timezone: 'Europe/Berlin' } as const;

export const SMALL_TEAM: Scenario = {
  name: 'small-team',
  description:
    'Thirty people in Berlin, one template, one pool. Builds are rare, so almost every build waits for a cold start unless a daemon is kept warm. The first day is Easter Monday: schedules start workspaces for people who do not come.',
  config: 'lab/what-if/scenarios/small-team.yaml',
  timezone: 'Europe/Berlin',
  from: '2026-04-06',
  templates: [{ name: 'container', ...IN_DEFAULT, ...CONTAINER_TEMPLATE, pushesPerWeek: 4 }],
  groups: [{ users: 30, ...IN_BERLIN, autostartShare: 0.3, freshPerDay: 0.3, templates: { container: 1 } }],
  outages: [],
  startSeconds: [30, 70],
};

/** Machines with GPUs are scarce, so a start takes longer. */
const GPU_START = { start: { p50: 240, p95: 660 }, stop: { p50: 60, p95: 150 } } as const;
const A10: Template = { ...MACHINE_TEMPLATE, ...IN_DEFAULT, name: 'a10', tags: { gpu: 'a10' }, ...GPU_START };

export const GPU_POOLS: Scenario = {
  name: 'gpu-pools',
  description:
    'Two pools can run builds with the tag gpu=a10, and two can run builds with size=large. Only one pool, small and expensive, can run builds with both tags. A policy that counts a job once for each matching pool launches too many tasks. A second organization "research" has pools with the same tags, which cannot run jobs of the first. On Thursday afternoon coderd is down for 25 minutes.',
  config: 'lab/what-if/scenarios/gpu-pools.yaml',
  timezone: 'Europe/Berlin',
  from: '2026-03-02',
  templates: [
    { ...CONTAINER_TEMPLATE, ...IN_DEFAULT, name: 'container' },
    { ...LARGE_TEMPLATE, ...IN_DEFAULT, name: 'large' },
    A10,
    { ...A10, name: 'a10-large', tags: { gpu: 'a10', size: 'large' }, start: { p50: 300, p95: 840 } },
    { ...A10, ...IN_RESEARCH, name: 'research-a10' },
    { ...A10, ...IN_RESEARCH, name: 'research-h100', tags: { gpu: 'h100' }, start: { p50: 420, p95: 1200 } },
  ],
  groups: [
    {
      users: 250,
      ...IN_BERLIN,
      autostartShare: 0.3,
      freshPerDay: 0.2,
      templates: { container: 4, large: 2, a10: 3, 'a10-large': 1 },
    },
    {
      users: 150,
      ...IN_NEW_YORK,
      autostartShare: 0.15,
      freshPerDay: 0.4,
      templates: { 'research-a10': 7, 'research-h100': 3 },
    },
  ],
  outages: [{ day: 3, minute: 860, seconds: 1500 }],
  startSeconds: [45, 110],
};

const PRESETS = { tags: { is_prebuild: 'true' }, claim: CLAIM } as const;

export const PREBUILD_HEAVY: Scenario = {
  name: 'prebuild-heavy',
  description:
    'Two templates keep 100 workspaces ready by day and 20 by night. People create one or two workspaces a day. Nine times in ten they claim a prebuilt one, and coderd builds the next at once. They delete it when they are done. Each new template version deletes and builds all prebuilt workspaces in one burst. That burst must not delay people.',
  config: 'lab/what-if/scenarios/prebuild-heavy.yaml',
  timezone: 'Europe/Berlin',
  from: '2026-03-02',
  templates: [
    {
      ...CONTAINER_TEMPLATE,
      ...IN_DEFAULT,
      name: 'web',
      pushesPerWeek: 6,
      prebuilds: { ...PRESETS, instances: 60, instancesAtNight: 12 },
    },
    {
      ...MACHINE_TEMPLATE,
      ...IN_DEFAULT,
      name: 'backend',
      pushesPerWeek: 4,
      prebuilds: { ...PRESETS, instances: 40, instancesAtNight: 8 },
    },
  ],
  groups: [
    { users: 350, ...IN_BERLIN, autostartShare: 0.1, freshPerDay: 1.4, templates: { web: 6, backend: 4 } },
    { users: 150, ...IN_BENGALURU, autostartShare: 0.1, freshPerDay: 1.4, templates: { web: 6, backend: 4 } },
  ],
  outages: [],
  startSeconds: [30, 70],
};

/** A container for one test or one task: small and short-lived. */
const SHORT_LIVED = { ...CONTAINER_TEMPLATE, ...IN_DEFAULT, pushesPerWeek: 1 } as const;

export const BURSTS: Scenario = {
  name: 'bursts',
  description:
    'About six times a day, at any hour, 5 to 25 workspaces are created within two minutes. Between the bursts there are almost no jobs. No schedule predicts them. A daemon that stays for the next burst idles for hours; without it every burst waits for a cold start.',
  config: 'lab/what-if/scenarios/bursts.yaml',
  timezone: 'Europe/Berlin',
  from: '2026-03-02',
  templates: [{ ...SHORT_LIVED, name: 'runner' }],
  groups: [],
  bursts: [{ template: 'runner', perDay: 6, between: [0, 1440], size: [5, 25], withinSeconds: 120 }],
  outages: [],
  startSeconds: [30, 70],
};

export const AGENTS: Scenario = {
  name: 'agents',
  description:
    'Agents create 1 to 20 workspaces at a time and delete each when its task is done. Another batch often follows a few minutes later, so busy hours follow no schedule. Builds are short: a task takes longer to start than the build takes.',
  config: 'lab/what-if/scenarios/agents.yaml',
  timezone: 'Europe/Berlin',
  from: '2026-03-02',
  templates: [{ ...SHORT_LIVED, name: 'agent', start: { p50: 22, p95: 55 }, stop: { p50: 10, p95: 25 } }],
  groups: [],
  bursts: [
    {
      template: 'agent',
      perDay: 50,
      between: [0, 1440],
      size: [1, 20],
      withinSeconds: 60,
      again: { chance: 0.7, afterMinutes: 6 },
      livesMinutes: [5, 60],
    },
  ],
  outages: [],
  startSeconds: [30, 70],
};
