/**
 * Generates workspaces as coderd lists them (docs/internals/coder.md §10), 90 seconds before many
 * of them start.
 */
import type { Random } from '../../simulator/base/random.ts';
import { BUILD, WORKSPACE } from './response-padding.ts';
import type { FleetTemplate } from './templates.ts';

export type FleetWorkspace = ReturnType<typeof makeWorkspace>;

type State =
  | 'to-start'
  | 'running'
  | 'forgotten'
  | 'stopped'
  | 'dormant'
  | 'failed'
  | 'building'
  | 'prebuild';

/**
 * Shares of the states. Most workspaces run and stop in the evening. `forgotten` ones still run
 * from the evening before.
 */
const SHARES: readonly (readonly [State, number])[] = [
  ['to-start', 0.2],
  ['running', 0.5],
  ['forgotten', 0.03],
  ['stopped', 0.15],
  ['dormant', 0.05],
  ['failed', 0.02],
  ['building', 0.02],
  ['prebuild', 0.03],
];

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Given = {
  readonly template: FleetTemplate;
  readonly takenAt: number;
  readonly startsAt: number;
  readonly random: Random;
};

/** One workspace of a template. All workspaces in state `to-start` start at `startsAt`. */
export function makeWorkspace({ template: { listed, activeVersion }, takenAt, startsAt, random }: Given) {
  const state = pickState(random);
  const createdAt = takenAt - random.between(5 * MINUTE, 10 * HOUR);
  const isScheduled = state === 'to-start' || state === 'running';
  return {
    ...WORKSPACE,
    id: random.uuid(),
    organization_id: listed.organization_id,
    template_id: listed.id,
    template_active_version_id: listed.active_version_id,
    is_prebuild: state === 'prebuild',
    autostart_schedule: isScheduled ? 'CRON_TZ=Europe/Berlin 0 10 * * 1-5' : '',
    next_start_at: isScheduled ? iso(state === 'to-start' ? startsAt : startsAt + DAY) : null,
    last_used_at: iso(takenAt - (state === 'dormant' ? 40 : random.between(0, 14)) * DAY),
    dormant_at: state === 'dormant' ? iso(takenAt - 10 * DAY) : null,
    deleting_at: state === 'dormant' ? iso(takenAt + random.between(1, 50) * DAY) : null,
    latest_build: makeBuild({ state, createdAt, takenAt, tags: activeVersion.job.tags, random }),
  };
}

type BuildFacts = Pick<Given, 'takenAt' | 'random'> & {
  readonly state: State;
  readonly createdAt: number;
  readonly tags: Readonly<Record<string, string>>;
};

function makeBuild({ state, createdAt, takenAt, tags, random }: BuildFacts) {
  const isStopped = state === 'to-start' || state === 'stopped' || state === 'dormant';
  return {
    ...BUILD,
    id: random.uuid(),
    created_at: iso(createdAt),
    transition: isStopped ? 'stop' : 'start',
    reason: isStopped ? 'autostop' : state === 'running' ? 'autostart' : 'initiator',
    ...deadlinesOf(state, takenAt, random),
    job: {
      id: random.uuid(),
      created_at: iso(createdAt),
      started_at: iso(createdAt + MINUTE),
      ...(state === 'building' ? {} : { completed_at: iso(createdAt + 2 * MINUTE) }),
      status: state === 'building' ? 'running' : state === 'failed' ? 'failed' : 'succeeded',
      file_id: random.uuid(),
      tags,
    },
  };
}

function deadlinesOf(state: State, takenAt: number, random: Random) {
  if (state === 'forgotten') return { deadline: iso(takenAt + random.between(0, HOUR)), max_deadline: null };
  if (state !== 'running') return { deadline: '0001-01-01T00:00:00Z', max_deadline: null };
  const deadline = takenAt + random.between(8 * HOUR, 12 * HOUR);
  return { deadline: iso(deadline), max_deadline: random.next() < 0.2 ? iso(deadline + HOUR) : null };
}

function pickState(random: Random): State {
  let left = random.next();
  for (const [state, share] of SHARES) {
    left -= share;
    if (left < 0) return state;
  }
  return 'running';
}

const iso = (time: number): string => new Date(time).toISOString();
