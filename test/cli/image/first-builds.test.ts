/** What `autoscaler image` says about the first builds of tasks. */
import { expect, it } from 'vitest';
import type { ImageResult } from '../../../cli/image/make-image.ts';
import { MAIN, tarOf } from './fixtures.ts';
import { CPU, type ImageLab, imageLabs } from './image-lab.ts';

const TASKS = 10;
const NOTHING =
  'no task of the last 7 days began with a successful build and had another of the same template version';
const { start } = imageLabs();

/** Tasks that have run nothing yet, and a template whose first build in a task downloads for 20 s. */
async function labWithTasks() {
  const given = await start({ pools: [{ ...CPU, desiredCount: TASKS, max: TASKS }] });
  const { coderd } = given.lab.world;
  const init = { warmMs: 4_000, providers: { 'aws 6.20': 20_000 } };
  const template = coderd.addTemplate({ organization: 'default', init, archive: await tarOf(MAIN) });
  const workspaces = Array.from({ length: TASKS }, () => coderd.workspaces.add({ template }));
  const build = (transition: 'start' | 'stop', { willFail = false } = {}): void => {
    for (const workspace of workspaces) coderd.build(workspace, transition);
    for (const job of coderd.openJobs()) Object.assign(job, { willFail });
    given.lab.pass(15 * 60);
  };
  return { ...given, template, build };
}

async function firstBuildsOf({ run }: ImageLab): Promise<ImageResult['firstBuilds']> {
  return (JSON.parse((await run('--json')).out) as ImageResult).firstBuilds;
}

it('compares the first build of each task with the next one of the same files', async () => {
  const lab = await labWithTasks();
  lab.build('start');
  lab.build('stop');
  expect(await firstBuildsOf(lab)).toEqual({
    ...{ kind: 'measured', tasks: TASKS, firstSeconds: 24, laterSeconds: 4 },
  });
  expect((await lab.run()).out).toContain(
    'terraform init takes 24 s in the first build of a task, and 4 s in the next build of the same template version there (medians of 10 tasks). The image saves at most the difference.',
  );
});

it('leaves out a task whose first job was an import, because that filled the cache', async () => {
  const lab = await labWithTasks();
  const { coderd } = lab.lab.world;
  coderd.importVersion({ organization: 'default', durationMs: 9_000, tags: {} });
  lab.build('start');
  lab.build('stop');
  expect(await firstBuildsOf(lab)).toMatchObject({ kind: 'measured', tasks: TASKS - 1 });
});

const withoutFigure: readonly {
  readonly name: string;
  readonly willFail?: true;
  readonly between?: (lab: Awaited<ReturnType<typeof labWithTasks>>) => void;
}[] = [
  {
    name: 'if the second build is of another template version',
    between: ({ lab, template }) => lab.world.coderd.pushVersion(template, {}),
  },
  {
    name: 'if the first builds failed, because coderd has no stages of them',
    willFail: true,
  },
  {
    name: 'of tasks from before the 7 days, whose first jobs are not listed',
    between: ({ lab }) => lab.pass(8 * 24 * 3600),
  },
];

it.each(withoutFigure)('has no figure $name', async ({ willFail, between }) => {
  const lab = await labWithTasks();
  lab.build('start', { willFail });
  between?.(lab);
  lab.build('stop');
  expect(await firstBuildsOf(lab)).toEqual({ kind: 'none', why: NOTHING });
  expect((await lab.run()).out).toContain(`\nNo figure for first builds: ${NOTHING}\n`);
});

it('leaves out builds whose stages coderd does not have', async () => {
  const lab = await labWithTasks();
  lab.build('start');
  for (const job of lab.lab.world.coderd.jobs().slice(-4)) Object.assign(job, { stages: [] });
  lab.build('stop');
  expect(await firstBuildsOf(lab)).toMatchObject({ kind: 'measured', tasks: TASKS - 4 });
});
