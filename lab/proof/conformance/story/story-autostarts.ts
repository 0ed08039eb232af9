/** Plays transitions that coderd makes, and the daemon that its gate needs, at times in the future. */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { HOUR_MS, SECOND_MS } from '../../../../lambda/decision/model/units.ts';
import type { Stage } from '../stage/stage.ts';
import type { Recorder } from '../stage/transcript.ts';
import { read, untilSettled } from './reading.ts';

const LINUX = { pool: 'linux' };

export async function playAutostarts(stage: Stage, recorder: Recorder): Promise<void> {
  const soon = wholeMinute(stage.now() + 2 * HOUR_MS);
  stage.names.set('schedule', scheduleAt(soon));
  await prepare(stage, recorder, soon);
  await playGate(stage, recorder, soon);
  await playOwners(stage, recorder, soon);
  await playVersions(stage, recorder, soon);
  await playSchedules(stage, recorder, soon);
}

/** `early` is stopped and starts soon. `late` runs, and stops in 8 h. */
async function prepare(stage: Stage, recorder: Recorder, soon: EpochMs): Promise<void> {
  await stage.startDaemon('gate', LINUX);
  await stage.startDaemon('other', { pool: 'other' });
  const own = { template: 'linux', owner: 'ann' };
  const early = { name: 'early', ...own, schedule: scheduleAt(soon), ttlMs: 8 * HOUR_MS };
  await recorder.does('ann creates early', stage.addWorkspace(early));
  await recorder.does('ann creates late', stage.addWorkspace({ name: 'late', ...own, ttlMs: 8 * HOUR_MS }));
  await untilSettled(stage, 'job 1 of late');
  await recorder.asks('a running workspace with a schedule', read.workspaces());
  await recorder.does('early is to stop', stage.build('early', 'stop'));
  await untilSettled(stage, 'job 2 of early');
  await recorder.asks('a stopped workspace with a schedule', read.workspaces());
  await recorder.does('early gets no schedule', stage.setSchedule('early', undefined));
  await recorder.asks('a stopped workspace without a schedule', read.workspaces());
  await recorder.does('early gets its schedule again', stage.setSchedule('early', scheduleAt(soon)));
  await recorder.does('early gets another time to live', stage.setTtl('early', 4 * HOUR_MS));
  await recorder.does('late gets another time to live', stage.setTtl('late', 6 * HOUR_MS));
  await recorder.asks('workspaces after their settings were changed', read.workspaces());
}

async function playGate(stage: Stage, recorder: Recorder, soon: EpochMs): Promise<void> {
  const ticks = async (step: string, at: EpochMs) => recorder.finds(step, await stage.tick(at));
  const seen = (daemon: string, at: number) => stage.setLastSeen(daemon, at as EpochMs);
  const minuteBefore = (soon - 60 * SECOND_MS) as EpochMs;
  await seen('gate', minuteBefore);
  await ticks('a minute too early', minuteBefore);
  await seen('gate', soon - 100 * SECOND_MS);
  await seen('other', soon - 10 * SECOND_MS);
  await ticks('a daemon seen 100 s ago, and one with other tags', soon);
  await stage.stopDaemon('other', 'terminate');
  await seen('gate', soon - 90 * SECOND_MS - 1);
  await ticks('a daemon seen a little more than 90 s ago', soon);
  await seen('gate', soon - 80 * SECOND_MS);
  await ticks('a daemon seen 80 s ago', soon);
  await untilSettled(stage, 'job 3 of early');
  await recorder.asks('an autostarted build', read.job('job 3 of early'));
  await recorder.asks('the builds of early', read.builds('early'));
  await ticks('again, while it runs', soon);

  const end = (soon + 7 * HOUR_MS) as EpochMs;
  await seen('gate', end - 100 * SECOND_MS);
  await ticks('no daemon when builds are to be stopped', end);
  await seen('gate', end);
  await ticks('a daemon when builds are to be stopped', end);
  await untilSettled(stage, 'job 4 of early');
  await untilSettled(stage, 'job 2 of late');
  await recorder.asks('workspaces after their ends', read.workspaces());
}

/** Owners whose workspaces coderd does not start. */
async function playOwners(stage: Stage, recorder: Recorder, soon: EpochMs): Promise<void> {
  const at = (soon + 72 * HOUR_MS) as EpochMs;
  const own = { template: 'linux', schedule: scheduleAt(soon) };
  await stage.addUser({ name: 'dan', role: 'member', status: 'active' });
  await recorder.does(
    'dan creates stays',
    stage.addWorkspace({ name: 'stays', template: 'linux', owner: 'dan' }),
  );
  await recorder.does('dan creates sleeps', stage.addWorkspace({ name: 'sleeps', owner: 'dan', ...own }));
  await recorder.does(
    "the first user creates ben's",
    stage.addWorkspace({ name: 'bens', owner: 'ben', by: 'first', ...own }),
  );
  await untilSettled(stage, 'job 1 of bens');
  await recorder.does('sleeps is to stop', stage.build('sleeps', 'stop'));
  await recorder.asks('a dormant owner', { path: '/organizations/{organization}/members', as: 'reader' });
  await recorder.does('bens is to stop', stage.build('bens', 'stop'));
  await untilSettled(stage, 'job 2 of bens');
  await stage.setUserStatus('dan', 'suspended');
  await stage.setLastSeen('gate', at);
  recorder.finds('a suspended owner and a dormant one', await stage.tick(at));
  await stage.until('the lifecycle executor has built', async () => (await openJobs(stage)) === 0);
  await recorder.asks('workspaces of a suspended and a dormant owner', read.workspaces());
  await stage.setUserStatus('dan', 'active');
  const later = (at + 24 * HOUR_MS) as EpochMs;
  await stage.setLastSeen('gate', later);
  recorder.finds('an owner that is active again', await stage.tick(later));
  await stage.until('the lifecycle executor has built', async () => (await openJobs(stage)) === 0);
}

/** `sleeps` keeps its version, whose tags differ from those of the active version. */
async function playVersions(stage: Stage, recorder: Recorder, soon: EpochMs): Promise<void> {
  const at = (soon + 240 * HOUR_MS) as EpochMs;
  await recorder.does('sleeps is to stop again', stage.build('sleeps', 'stop'));
  await untilSettled(stage, 'job 4 of sleeps');
  await stage.startDaemon('moved', { pool: 'moved' });
  const moved = {
    name: 'linux-3',
    template: 'linux',
    tags: { pool: 'moved' },
    script: { start: { ms: 100 } },
  };
  await recorder.does('import linux-3', stage.importVersion(moved));
  await untilSettled(stage, 'import of linux-3');
  await recorder.does('linux-3 becomes active', stage.activate('linux', 'linux-3'));
  await stage.setLastSeen('gate', at);
  recorder.finds('a daemon for the version of the workspace', await stage.tick(at));
  await stage.setLastSeen('gate', (at - HOUR_MS) as EpochMs);
  await stage.setLastSeen('moved', at);
  recorder.finds('a daemon for the active version', await stage.tick(at));
  await stage.until('the lifecycle executor has built', async () => (await openJobs(stage)) === 0);
  await recorder.asks('an autostart of a version that is not active', read.job('job 5 of sleeps'));
  await stage.stopDaemon('moved', 'terminate');
}

/** Plays a state that SQL creates: next_start_at is missing. */
async function playSchedules(stage: Stage, recorder: Recorder, soon: EpochMs): Promise<void> {
  await recorder.does('late gets a schedule', stage.setSchedule('late', scheduleAt(soon)));
  await stage.forgetNextStart('late');
  await recorder.asks('a workspace that has lost its next start', read.workspaces());
  recorder.finds('a tick finds it', await stage.tick(wholeMinute(stage.now())));
  await recorder.asks('a workspace that has its next start again', read.workspaces());
  await stage.forgetNextStart('late');
  await recorder.does('late is to start', stage.build('late', 'start'));
  await untilSettled(stage, 'job 3 of late');
  await recorder.asks('a start has told the next start anew', read.workspaces());
  await recorder.does('delta is to stop', stage.build('delta', 'stop'));
  await untilSettled(stage, 'job 2 of delta');
  await stage.stopDaemon('gate', 'terminate');
}

async function openJobs(stage: Stage): Promise<number> {
  const { body } = await stage.ask(read.jobs({ status: 'pending,running', limit: '0' }));
  return Array.isArray(body) ? body.length : 0;
}

function wholeMinute(ms: number): EpochMs {
  return (Math.floor(ms / 60_000) * 60_000) as EpochMs;
}

function scheduleAt(time: EpochMs): string {
  const date = new Date(time);
  return `CRON_TZ=UTC ${date.getUTCMinutes()} ${date.getUTCHours()} * * *`;
}
