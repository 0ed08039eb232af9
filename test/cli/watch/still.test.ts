/** `autoscaler watch --out`: the page in one file for others. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WaitRecord } from '../../../lambda/look/waits/wait-record.ts';
import { handIn } from '../../secrets/output.ts';
import { type CommandLab, commandLabs, logLooks, withLogsAnswer } from '../../support/command-lab.ts';
import type { LabPool } from '../../support/lab.ts';

const { file, folder, start } = commandLabs();
const out = join(folder, 'page.html');

const CPU: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 1 };
const GPU: LabPool = { ...CPU, name: 'gpu', tags: { cluster: 'gpu' }, max: 5 };

const ACCOUNT = '123456789012';
const RAW = `CannotPullContainerError: pull of ${ACCOUNT}.dkr.ecr.eu-central-1.amazonaws.com/secretimage for arn:aws:ecs:task/1`;
/** Owners, workspaces, authors of overrides and what they wrote. */
const NAMES = ['olga-owner', 'olgas-place', 'paul-pinner', 'for-the-board'];

/** A pool at its maximum with jobs of olga, one whose tasks fail to start, and an override of paul. */
async function troubled(): Promise<CommandLab> {
  const lab = await start({ pools: [CPU, GPU] });
  const { world } = lab;
  const owner = world.coderd.addUser({ username: 'olga-owner' });
  const template = world.coderd.addTemplate({ name: 'base', organization: 'default', tags: {} });
  const gpu = world.coderd.addTemplate({
    name: 'notebook',
    organization: 'default',
    tags: { cluster: 'gpu' },
  });
  for (const number of [1, 2, 3])
    world.coderd.workspaces.create({ template, name: `olgas-place-${number}`, owner, buildMs: 900_000 });
  world.coderd.workspaces.create({ template: gpu, name: 'olgas-place-4', owner });
  world.coderd.submitJob({ organization: 'default', tags: { cluster: 'tpu' }, durationMs: 1_000 });
  world.ecs.failStarts(world.service('gpu').identity.name, RAW);
  await logLooks(lab, 300, new WaitRecord());
  await lab.callIn(
    { environment: { AUTOSCALER_CLUSTER: world.ecs.clusterName, USER: 'paul-pinner' } },
    ...['pin', 'cpu', '1', '--for', '2h', '--why', 'for-the-board'],
  );
  lab.pass(20);
  await logLooks(lab, 60);
  return lab;
}

async function written(lab: CommandLab, ...args: readonly string[]): Promise<string> {
  const { code, err, out: said } = await lab.call('watch', '--out', out, ...args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(said).toMatch(
    new RegExp(
      `^wrote .*page\\.html: one file without script, ${args.length > 0 ? 'with the names of owners' : 'without names of people'}\n$`,
    ),
  );
  const page = readFileSync(out, 'utf8');
  // the search for secrets reads it too
  handIn({ where: 'the file of watch --out', text: page });
  return page;
}

/** What nobody outside may get, whether names are asked for or not. */
function expectClean(page: string): void {
  for (const found of [
    ACCOUNT,
    'arn:',
    '<script',
    '://',
    'CannotPull',
    'secretimage',
    'AccessDenied',
    'href=',
    'src=',
    '@import',
    'url(',
  ])
    expect(page).not.toContain(found);
}

describe('the file of watch --out', () => {
  it('has pools, jobs, findings and the strip, and no name, account, ARN, error or script', async () => {
    const page = await written(await troubled());
    expectClean(page);
    for (const name of NAMES) expect(page).not.toContain(name);
    expect(page).toMatch(/<h1>4 jobs wait, .* 1 of them unschedulable; \d findings?<\/h1>/);
    expect(page).toContain('<li>pool &quot;gpu&quot;: starts failing</li>');
    expect(page).toContain('organization &quot;default&quot;, tags cluster=tpu: 1 job');
    expect(page).toMatch(/<b>cpu<\/b>.*1 of 1 tasks.*role="img" aria-label="the last 6 min: /);
    expect(page).toMatch(/<li>2 with \(untagged\), the oldest for .*<li>template base, for /);
    expect(page).toMatch(/<path class="busy" d="M[^"]+"\/>/);
    expect(page).toMatch(/<tr><td>09:0\d<\/td><td>\d/);
    expect(page).toContain('cpu: pinned');
    expect(page).toContain('One query read less than 1 MB of the log');
  });

  it('names owners, workspaces and authors with --names, and nothing else more', async () => {
    const page = await written(await troubled(), '--names');
    expectClean(page);
    for (const name of ['olga-owner/olgas-place-2', 'by paul-pinner (for-the-board)'])
      expect(page).toContain(name);
  });

  it('has no words of AWS where the log cannot be read', async () => {
    const lab = await troubled();
    const message = `User: arn:aws:sts::${ACCOUNT}:assumed-role/x is not authorized`;
    await withLogsAnswer(lab, 'FilterLogEvents', 400, { __type: 'AccessDeniedException', message });
    const page = await written(lab);
    expectClean(page);
    expect(page).toContain('The last look of the function is unknown.');
    expect(page).toContain('What was before is unknown.');
  });

  it('has none where the day cannot be read', async () => {
    const lab = await troubled();
    const message = `User: arn:aws:sts::${ACCOUNT}:assumed-role/x is not authorized`;
    await withLogsAnswer(lab, 'StartQuery', 400, { __type: 'AccessDeniedException', message });
    const page = await written(lab);
    expectClean(page);
    expect(page).toContain('What was before is unknown.');
  });

  it('writes signs of HTML in names as text', async () => {
    const lab = await start({ pools: [CPU] });
    lab.world.coderd.submitJob({
      organization: 'default',
      tags: { a: '<script>alert(1)</script>&"' },
      durationMs: 1,
    });
    const page = await written(lab);
    expect(page).not.toContain('<script');
    expect(page).toContain('a=&lt;script&gt;alert(1)&lt;/script&gt;&amp;');
  });
});

describe('watch --out', () => {
  it('leaves what was there, and no part, where the file cannot be written or the look fails', async () => {
    const lab = await start({ pools: [CPU] });
    const none = await lab.call('watch', '--out', join(folder, 'none', 'page.html'));
    expect(none).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^writing the page: ENOENT.*\. Give another file with --out\n$/),
    });
    mkdirSync(join(folder, 'a-folder'));
    const aFolder = await lab.call('watch', '--out', join(folder, 'a-folder'));
    expect(aFolder).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^writing the page: EISDIR.*--out\n$/),
    });
    writeFileSync(out, 'before');
    writeFileSync(file, 'pools: 3');
    const { code } = await lab.call('watch', '--out', out);
    expect([code, readFileSync(out, 'utf8')]).toEqual([1, 'before']);
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('needs --out for --names', async () => {
    const lab = await start({ pools: [CPU] });
    const { code, err } = await lab.call('watch', '--names');
    expect([code, err]).toEqual([2, expect.stringContaining('--names belongs to --out FILE')]);
  });
});
