/** `npm run try` as a process, and the commands of a second terminal against it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runningTry } from '../../../cli/shared/running-try.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { type Answer, runIn } from '../../../test/support/cli-run.ts';
import { ownFolder } from '../../../test/support/own-folder.ts';

const folder = ownFolder();
const START_MS = 60_000;
const POLL = { timeout: 20_000, interval: 100 };

let child: ChildProcess;
let shown = '';
let environment: Readonly<Record<string, string>> = {};

const autoscaler = (...args: readonly string[]): Promise<Answer> =>
  runIn({ environment: { ...environment, USER: 'ana' }, now: () => Date.now() as EpochMs }, ...args);

beforeAll(async () => {
  child = spawn(process.execPath, ['lab/demo/try/main.ts', '--hours', '1', '--out', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  await vi.waitUntil(() => shown.includes('Events and changes follow here'), { ...POLL, timeout: START_MS });
  environment = runningTry(['status'], {}, join(folder, 'env')) as typeof environment;
}, START_MS);
beforeEach(() => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(() => {
  child.kill('SIGKILL');
});

describe('npm run try', () => {
  it('names the file with the variables', () => {
    expect(shown).toContain(`\n  . ${join(folder, 'env')}\n`);
    expect(Object.keys(environment)).toContain('AUTOSCALER_CONFIG');
  });

  it('passes every check of doctor, which tells of the build that died as the story means it', async () => {
    const status = (): Promise<string> => autoscaler('status').then(({ out }) => out);
    await expect.poll(status, POLL).toMatch(/^last look: \d+ s ago/m);
    const { code, out } = await autoscaler('doctor');
    const wrong = out.split('\n').filter((line) => /^(?:warn|FAIL|skip)/.test(line));
    expect(
      wrong.filter((line) => !/^warn {2}finding "build-died-with-task": .*host failure/.test(line)),
    ).toEqual([]);
    expect(code).toBe(0);
  });

  it('answers plan and explains a pool', async () => {
    const plan = await autoscaler('plan');
    expect(plan.out).toMatch(/^ {2}. default +\d/m);
    // the function has learned from the builds before its start, and plan reads it
    expect(plan).toMatchObject({ out: expect.not.stringContaining('nothing learned'), err: '' });
    const { code, out } = await autoscaler('plan', '--explain', 'default');
    expect(out).toMatch(/^decision:$/m);
    expect(code).toBe(0);
  });

  it('refuses a second one in its folder', () => {
    const args = ['lab/demo/try/main.ts', '--out', folder];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('runs in this folder already')]);
  });

  it('has a log with the last look of the function', async () => {
    const status = (): Promise<string> => autoscaler('status').then(({ out }) => out);
    await expect.poll(status, POLL).toMatch(/^last look: \d+ s ago, .*; succeeded$/m);
  });

  it('tells where the waits of the last hour went', async () => {
    const { out } = await autoscaler('status');
    expect(out).toMatch(/^waits of the last hour: \d+ jobs, median .*\n {2}.* \d+%, .* \d+%$/m);
  });

  it('has a build that died with its task, and says what to check', async () => {
    const orphans = (): Promise<string> => autoscaler('explain', '--dead').then(({ out }) => out);
    await expect
      .poll(orphans, POLL)
      .toMatch(/^1 build died with its task .*\n\n(start|stop|build) of [\w-]+\/[\w-]+$/m);
    expect(await orphans()).toMatch(/^ {2}stopped {3}.*: host failure .*$/m);
  });

  it('applies a pin, and shows the change with its reason', async () => {
    const { out } = await autoscaler('pin', 'gpu', '7', '--for', '10m', '--why', 'a test');
    expect(out).toMatch(/^pool "gpu": pinned at 7 tasks until .* by ana \(a test\)/);
    await vi.waitUntil(() => /\+ gpu \d -> \d.*: .*a pin keeps 7 tasks/.test(shown), POLL);
  }, 30_000);

  it('has past builds of all kinds to export as a trace', async () => {
    const { code, out } = await autoscaler('trace', 'export', '--out', '-');
    const kinds = out.split('\n').map((line) => /"kind":"(\w+)"/.exec(line)?.[1]);
    expect(kinds).toEqual(expect.arrayContaining(['user', 'autostart', 'autostop', 'prebuild', 'import']));
    expect(code).toBe(0);
  });

  it('ends with exit code 0 on Ctrl-C', async () => {
    const ended = new Promise((resolve) => child.on('exit', (...end) => resolve(end)));
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(existsSync(join(folder, 'env'))).toBe(false);
    expect(shown).toMatch(/\nStopped\.\n$/);
  });

  it('removes the file of an earlier world before a setup, and ends with the shell that npm starts it in', async () => {
    const second = join(folder, 'second');
    const former = join(second, 'autoscaler.yaml');
    mkdirSync(second);
    writeFileSync(former, 'coder:\n  url: http://127.0.0.1:9\n');
    const command = `"${process.execPath}" lab/demo/try/main.ts --before-setup --out "${second}"; true`;
    const shell = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = new Promise((resolve) => shell.stdout.once('close', resolve));
    let text = '';
    shell.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('Events and changes follow here')) shell.kill('SIGTERM');
    });
    await closed;
    expect(text).toContain('Stopped.');
    expect(existsSync(former)).toBe(false);
  });
});
