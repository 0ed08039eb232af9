/** Plays template versions: imports that wait, succeed, fail or are cancelled, and their templates. */
import { ConformanceError } from '../stage/question.ts';
import type { Stage } from '../stage/stage.ts';
import type { Recorder } from '../stage/transcript.ts';
import { isSettled, job, read, untilSettled } from './reading.ts';

const LINUX = { pool: 'linux' };

export async function playImports(stage: Stage, recorder: Recorder): Promise<void> {
  await recorder.does(
    'import linux-1',
    stage.importVersion({ name: 'linux-1', tags: LINUX, script: SCRIPT }),
  );
  await recorder.does('import gpu-1', stage.importVersion({ name: 'gpu-1', tags: { pool: 'gpu' } }));
  await recorder.asks('two imports wait', read.jobs({ status: 'pending,running', limit: '0' }));
  await recorder.asks('a version whose import waits', read.version('linux-1'));
  await recorder.does('cancel the import of gpu-1', stage.cancelImport('gpu-1'));
  await recorder.does('cancel the import of gpu-1 again', stage.cancelImport('gpu-1'));
  await recorder.asks('an import cancelled while it waited', read.job('import of gpu-1'));
  await stage.startDaemon('linux-a', LINUX);
  await untilSettled(stage, 'import of linux-1');
  await recorder.asks('an import that succeeded', read.job('import of linux-1'));
  await recorder.does('cancel an import that has succeeded', stage.cancelImport('linux-1'));
  await recorder.does('the template linux', stage.addTemplate(template('linux', '1')));
  await recorder.asks('an import whose version has a template', read.job('import of linux-1'));

  const broken = { name: 'broken-1', tags: LINUX, script: { import: { fails: true } } };
  await recorder.does('import broken-1', stage.importVersion(broken));
  await untilSettled(stage, 'import of broken-1');
  await recorder.asks('an import that failed', read.job('import of broken-1'));
  await recorder.does('a template of a version that failed', stage.addTemplate(template('broken', '1')));

  await recorder.does('import plain-1', stage.importVersion({ name: 'plain-1', tags: {} }));
  const second = { name: 'linux-2', template: 'linux', tags: LINUX, script: SCRIPT };
  await recorder.does('import linux-2', stage.importVersion(second));
  await untilSettled(stage, 'import of linux-2');
  await recorder.asks('an untagged job waits beside a tagged daemon', read.job('import of plain-1'));
  await stage.startDaemon('plain-a', {});
  await untilSettled(stage, 'import of plain-1');
  await recorder.does('the template plain', stage.addTemplate(template('plain', '1')));
  await recorder.does('linux-2 becomes active', stage.activate('linux', 'linux-2'));

  const slow = { name: 'slow-1', tags: LINUX, script: { import: { ms: 1_500 } } };
  await recorder.does('import slow-1', stage.importVersion(slow));
  const isRunning = async () => (await job(stage, 'import of slow-1'))?.status === 'running';
  await stage.until('the import of slow-1 runs', isRunning);
  await recorder.asks('an import that runs', read.job('import of slow-1'));
  await untilSettled(stage, 'import of slow-1');

  await stage.startDaemon('small-a', { ...LINUX, size: 'small' });
  const sized = { name: 'sized-1', tags: LINUX, parameter: { name: 'size', value: 'small' } };
  await recorder.does('import sized-1', stage.importVersion(sized));
  await untilSettled(stage, 'import of sized-1');
  await recorder.asks('an import with tags of its own', read.job('import of sized-1'));
  await recorder.does('the template sized', stage.addTemplate(template('sized', '1')));

  await recorder.asks('templates', { path: '/templates', as: 'reader' });
  await recorder.asks('templates, as a member', { path: '/templates', as: 'mia' });
  await recorder.asks('the active version of linux', read.version('linux-2'));
  await recorder.asks('the active version of linux, as a member', { ...read.version('linux-2'), as: 'mia' });
  for (const daemon of ['linux-a', 'plain-a', 'small-a']) await stage.stopDaemon(daemon, 'terminate');
  await recorder.asks('daemons that have just left', read.daemons({ limit: '0' }));
  if (!isSettled(await job(stage, 'import of sized-1')))
    throw new ConformanceError('playing the story: the import of sized-1 has not ended');
}

const SCRIPT = { start: { ms: 100 }, stop: { ms: 100 } };

const template = (name: string, number: string) => ({ name, version: `${name}-${number}` });
