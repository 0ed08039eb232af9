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

const GUARD = readFileSync('guard/guard.sh', 'utf8');

/** Runs a script in a shell that has these functions of the guard; the words that it prints. */
function wordsOf(functions: readonly string[], script: string): readonly string[] {
  const texts = functions.map(
    (name) => new RegExp(`^${name}\\(\\) \\{[\\s\\S]*?^\\}$`, 'm').exec(GUARD)?.[0] ?? '',
  );
  const { stdout, stderr } = spawnSync('sh', ['-c', [...texts, script].join('\n')], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split(/\s+/).filter((word) => word !== '');
}

it('the guard jitters by up to a third, and reaches both ends', () => {
  const all = wordsOf(['jitter'], 'seed=1; for i in $(seq 3000); do jitter 300; echo "$jittered"; done').map(
    Number,
  );
  expect(all).toHaveLength(3_000);
  expect([Math.min(...all), Math.max(...all)]).toEqual([200, 400]);
  const below = [250, 300, 350].map((ms) => all.filter((each) => each < ms).length);
  for (const [index, count] of below.entries()) expect(Math.abs(count - 750 * (index + 1))).toBeLessThan(150);
});

it.each([
  { ms: 0, seconds: '0.000' },
  { ms: 30, seconds: '0.030' },
  { ms: 999, seconds: '0.999' },
  { ms: 1_000, seconds: '1' },
  { ms: 1_999, seconds: '1' },
  { ms: 8_000, seconds: '8' },
])('the guard sleeps $seconds s for $ms ms', ({ ms, seconds }) => {
  expect(wordsOf(['in_seconds'], `in_seconds ${ms}; echo "$seconds"`)).toEqual([seconds]);
});

it.each([
  { uptime: '12.00', ms: '12000' },
  { uptime: '12.08', ms: '12080' },
  { uptime: '9999999.99', ms: '9999999990' },
  { uptime: '', ms: '7000' },
  { uptime: '12', ms: '7000' },
])('the guard reads the uptime "$uptime" as $ms ms, by the date if need be', ({ uptime, ms }) => {
  const tools = `read() { now=${uptime}; }; date() { echo 7; }`;
  expect(wordsOf(['tell_time'], `${tools}; tell_time; echo "$now"`)).toEqual([ms]);
});

/** A script that reads the metadata of the task with this id. */
function readsMetadata(id: string): string {
  const answer = `{"TaskARN":"a/b/${id}","DesiredStatus":"RUNNING"}`;
  return `fetch() { answer='${answer}'; }; AUTOSCALER_POOL=gpu; read_metadata; echo "$? $seed $why"`;
}

it.each([
  { id: '000000000000000000000000f000001a', seed: 0x1a },
  { id: '000000000000000000000000f100002b', seed: 0x100002b },
  { id: '0000010', seed: 16 },
])('the seed of the jitter comes from the end of the task id $id', ({ id, seed }) => {
  expect(wordsOf(['read_metadata'], readsMetadata(id))).toEqual(['0', `${seed}`]);
});

it('the guard takes no task id of six digits', () => {
  expect(wordsOf(['read_metadata'], readsMetadata('000010'))).toEqual(['1', 'metadata-unreadable']);
});

it('a call has two seconds to connect and eight in all', () => {
  const [, max = ''] = /^call_ms=.*:-(\d+)\}$/m.exec(GUARD) ?? [];
  const curl = 'curl() { printf %s "$*"; }';
  const answer = wordsOf(
    ['in_seconds', 'fetch'],
    `call_ms=${max}; ${curl}; fetch 1000 http://agent; echo "$answer"`,
  );
  expect(answer.join()).toContain('--connect-timeout2--max-time8--');
});

// docs/internals/architecture.md, "The lease"
it.each([
  { name: 'look_ms', ms: 30_000 },
  { name: 'renew_ms', ms: 15 * 60_000 },
  { name: 'retry_ms', ms: 10_000 },
  { name: 'told_ms', ms: 3_000 },
  { name: 'lease_within_ms', ms: 10 * 60_000 },
  { name: 'denied_ms', ms: 60_000 },
  { name: 'blind_ms', ms: 6 * 3_600_000 },
  { name: 'left_ms', ms: 10 * 60_000 },
  { name: 'died_ms', ms: 60_000 },
  { name: 'call_ms', ms: 8_000 },
  { name: 'settle_ms', ms: 1_000 },
])('$name of the guard is $ms unless a test sets it', ({ name, ms }) => {
  const line = new RegExp(`^${name}=.*$`, 'm').exec(GUARD)?.[0];
  expect(wordsOf([], `${line}\necho "$${name}"`)).toEqual([`${ms}`]);
});

it('the guard is plain ASCII, because CloudFormation replaces other characters by question marks', () => {
  expect(readFileSync('guard/guard.sh', 'latin1')).toMatch(/^[\t\n\x20-\x7e]*$/);
});

it('the guard is smaller than 16 KiB, which leaves room in a task definition of 64 KiB', () => {
  expect(GUARD.length).toBeLessThan(16 * 1024);
});
