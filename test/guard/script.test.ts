import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MISSING } from './running-guard.ts';

const SCRIPTS = ['guard/guard.sh', 'test/guard/coder.sh'];

it.skipIf(MISSING.includes('shellcheck')).each(SCRIPTS)('%s passes shellcheck', (file) => {
  const { status, stdout } = spawnSync('shellcheck', ['--shell=sh', '--severity=style', file], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

it('the guard jitters by up to a third', () => {
  const [jitter = ''] = /^jitter\(\) \{[\s\S]*?^\}$/m.exec(readFileSync('guard/guard.sh', 'utf8')) ?? [];
  const loop = 'seed=1; for i in $(seq 200); do jitter 300; echo "$jittered"; done';
  const { stdout } = spawnSync('sh', ['-c', `${jitter}\n${loop}`], { encoding: 'utf8' });
  const all = stdout.trim().split('\n').map(Number);
  expect(all).toHaveLength(200);
  expect(all.filter((ms) => ms < 200 || ms > 400)).toEqual([]);
  expect(all.filter((ms) => ms < 215 || ms > 385).length).toBeGreaterThan(5);
});

it('the guard is plain ASCII, because CloudFormation replaces other characters by question marks', () => {
  expect(readFileSync('guard/guard.sh', 'latin1')).toMatch(/^[\t\n\x20-\x7e]*$/);
});

it('the guard is smaller than 16 KiB, which leaves room in a task definition of 64 KiB', () => {
  expect(readFileSync('guard/guard.sh').length).toBeLessThan(16 * 1024);
});
