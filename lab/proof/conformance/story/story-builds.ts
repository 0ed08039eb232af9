/** Plays builds: pending, running, cancelled and failing ones, and the effect of daemons that leave. */
import type { Stage } from '../stage/stage.ts';
import type { Recorder } from '../stage/transcript.ts';
import { job, read, untilSettled } from './reading.ts';

const LINUX = { pool: 'linux' };
const OPEN = { status: 'pending,running', limit: '0' };

export async function playBuilds(stage: Stage, recorder: Recorder): Promise<void> {
  await playQueue(stage, recorder);
  await playCancellations(stage, recorder);
  await playParameters(stage, recorder);
  await playFailures(stage, recorder);
  await playLeavingDaemons(stage, recorder);
  await playLists(recorder);
}

async function playQueue(stage: Stage, recorder: Recorder): Promise<void> {
  const own = { template: 'linux', owner: 'ann' };
  await recorder.does('ann creates alpha', stage.addWorkspace({ name: 'alpha', ...own }));
  await recorder.does('ann creates beta', stage.addWorkspace({ name: 'beta', ...own }));
  await recorder.does('alpha again while its build waits', stage.build('alpha', 'stop'));
  await recorder.asks('two builds wait', read.jobs(OPEN));
  await recorder.asks('workspaces whose builds wait', read.workspaces());
  await stage.startDaemon('linux-b', LINUX);
  await untilSettled(stage, 'job 1 of beta');
  await recorder.asks('the first build of alpha', read.job('job 1 of alpha'));
  await recorder.asks('a daemon that has worked', read.daemons({ limit: '0' }));
  await recorder.asks('workspaces that run', read.workspaces());
  await recorder.asks('workspaces, as a member that has none', { path: '/workspaces', as: 'mia' });
  await stage.stopDaemon('linux-b', 'terminate');
}

async function playCancellations(stage: Stage, recorder: Recorder): Promise<void> {
  await recorder.does('alpha is to stop', stage.build('alpha', 'stop'));
  await recorder.does('cancel the stop of alpha', stage.cancelBuild('alpha'));
  await recorder.does('cancel the stop of alpha again', stage.cancelBuild('alpha'));
  await recorder.does('cancel the finished start of beta', stage.cancelBuild('beta'));
  await recorder.asks('a build cancelled while it waited', read.job('job 2 of alpha'));
  await recorder.asks('the builds of alpha', read.builds('alpha'));
  await recorder.asks('no open jobs', read.jobs(OPEN));
  await stage.startDaemon('linux-c', LINUX);
  await recorder.does('beta is to stop', stage.build('beta', 'stop'));
  await untilSettled(stage, 'job 2 of beta');
  await recorder.asks('a cancelled build beside one that was served', read.job('job 2 of alpha'));
  await recorder.does('beta is to be deleted', stage.build('beta', 'delete'));
  await untilSettled(stage, 'job 3 of beta');
  await recorder.asks('workspaces after one is deleted', read.workspaces());
  await recorder.asks('the builds of a deleted workspace', read.builds('beta'));
}

async function playParameters(stage: Stage, recorder: Recorder): Promise<void> {
  const own = { template: 'sized', owner: 'ann' };
  await recorder.does('ann creates a small one', stage.addWorkspace({ name: 'small', ...own }));
  const large = { name: 'large', ...own, parameters: { size: 'large' } };
  await recorder.does('ann creates a large one', stage.addWorkspace(large));
  await recorder.asks('builds with tags of their own', read.jobs(OPEN));
  await recorder.asks('only those for large ones', read.jobs({ ...OPEN, tags: '{"size":"large"}' }));
  for (const name of ['small', 'large']) await recorder.does(`cancel ${name}`, stage.cancelBuild(name));
}

/** The daemon linux-c is there. */
async function playFailures(stage: Stage, recorder: Recorder): Promise<void> {
  const script = { start: { ms: 50, fails: true }, stop: { ms: 50, fails: true } };
  await recorder.does('import shaky-1', stage.importVersion({ name: 'shaky-1', tags: LINUX, script }));
  await untilSettled(stage, 'import of shaky-1');
  await recorder.does('the template shaky', stage.addTemplate({ name: 'shaky', version: 'shaky-1' }));
  const own = { template: 'shaky', owner: 'ann' };
  await recorder.does('ann creates wobbly', stage.addWorkspace({ name: 'wobbly', ...own }));
  await untilSettled(stage, 'job 1 of wobbly');
  await recorder.asks('a start that failed', read.job('job 1 of wobbly'));
  await recorder.does('stop what has failed', stage.build('wobbly', 'stop'));
  await untilSettled(stage, 'job 2 of wobbly');
  await recorder.asks('builds that failed', read.builds('wobbly'));
}

/** The daemon linux-c is there. */
async function playLeavingDaemons(stage: Stage, recorder: Recorder): Promise<void> {
  const script = { start: { ms: 1_500 }, stop: { ms: 60_000 } };
  await recorder.does('import long-1', stage.importVersion({ name: 'long-1', tags: LINUX, script }));
  await untilSettled(stage, 'import of long-1');
  await recorder.does('the template long', stage.addTemplate({ name: 'long', version: 'long-1' }));
  const running = (name: string) => async () => (await job(stage, name))?.status === 'running';
  await recorder.does(
    'ann creates gamma',
    stage.addWorkspace({ name: 'gamma', template: 'long', owner: 'ann' }),
  );
  await stage.until('gamma is being built', running('job 1 of gamma'));
  await recorder.asks('a daemon that works', read.daemons({ limit: '0', status: 'busy' }));
  await recorder.asks('a build that runs', read.jobs(OPEN));
  await recorder.asks('a workspace whose build runs', read.workspaces());
  await stage.stopDaemon('linux-c', 'terminate');
  await recorder.asks('a build whose daemon was asked to leave', read.job('job 1 of gamma'));

  await stage.startDaemon('linux-d', LINUX);
  await recorder.does('gamma is to stop', stage.build('gamma', 'stop'));
  await stage.until('gamma is being stopped', running('job 2 of gamma'));
  await recorder.does('cancel the stop of gamma', stage.cancelBuild('gamma'));
  await recorder.does('cancel the stop of gamma again', stage.cancelBuild('gamma'));
  await untilSettled(stage, 'job 2 of gamma');
  await recorder.asks('a build cancelled while it ran', read.job('job 2 of gamma'));

  await recorder.does('gamma is to stop after all', stage.build('gamma', 'stop'));
  await stage.until('gamma is being stopped', running('job 3 of gamma'));
  await stage.stopDaemon('linux-d', 'kill');
  await recorder.asks('a build whose daemon was killed', read.job('job 3 of gamma'));
  await recorder.asks('a daemon that was killed', read.daemons({ limit: '0', status: 'busy' }));
  await stage.startDaemon('linux-e', LINUX);
  await recorder.does(
    'ann creates delta',
    stage.addWorkspace({ name: 'delta', template: 'linux', owner: 'ann' }),
  );
  await untilSettled(stage, 'job 1 of delta');
  await recorder.asks('nobody takes the build of a killed daemon', read.jobs(OPEN));
  await recorder.does('cancel the build of a killed daemon', stage.cancelBuild('gamma'));
  await recorder.does('cancel the build of a killed daemon again', stage.cancelBuild('gamma'));
  await recorder.asks('a cancelled build of a killed daemon', read.job('job 3 of gamma'));
  await stage.stopDaemon('linux-e', 'terminate');
}

async function playLists(recorder: Recorder): Promise<void> {
  await recorder.asks('the newest two jobs', read.jobs({ limit: '2' }));
  await recorder.asks('jobs that failed', read.jobs({ status: 'failed', limit: '0' }));
  await recorder.asks('jobs that were cancelled', read.jobs({ status: 'canceled', limit: '3' }));
  await recorder.asks('jobs that are being cancelled', read.jobs({ status: 'canceling', limit: '0' }));
  await recorder.asks("ann's newest job", read.jobs({ initiator: '{ann}', limit: '1' }));
  await recorder.asks('the newest daemon', read.daemons({ limit: '1' }));
  await recorder.asks('daemons that are offline', read.daemons({ status: 'offline', limit: '0' }));
  await recorder.asks('daemons that are idle', read.daemons({ status: 'idle', limit: '2' }));
  await recorder.asks('daemons seen just now', read.daemons({ max_age: '1h', offline: 'true', limit: '2' }));
}
