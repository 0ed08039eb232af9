/** The groups of `autoscaler --help`, and the examples in the help of each command. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { run, runIn } from '../support/cli-run.ts';

const MISSING = '/nowhere/autoscaler.yaml';

beforeEach(() => {
  vi.stubEnv('AUTOSCALER_CONFIG', MISSING);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const { out } = await run('--help');
const commands = [...out.slice(out.indexOf('Set up:')).matchAll(/^ {2}([a-z]+) /gm)].flatMap(
  ([, name = '']) => name,
);

it('lists the commands in groups', () => {
  const groups = [...out.matchAll(/^(\S.*):$/gm)].map(([, name]) => name);
  expect(groups).toEqual(['Set up', 'Look', 'Act', 'What if']);
});

it('lists as many commands as the page about the scope names', () => {
  expect(readFileSync('docs/scope.md', 'utf8')).toContain(`There are ${commands.length}; `);
});

it('lists all commands in 34 lines of 80 characters', () => {
  const lines = out.split('\n');
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(lines.length).toBeLessThanOrEqual(35);
});

/** What the help of a command tells to type, as words. */
async function examplesOf(command: string): Promise<readonly (readonly string[])[]> {
  const { out: help } = await run(command, '--help');
  const lines = [...help.matchAll(/^ {2}autoscaler (.+)$/gm)].map(([, line = '']) => line);
  return lines.map((line) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, a, b = '']) => a ?? b));
}

it.each(commands)(
  'has two examples of %s with the right options, which fail only for files',
  async (name) => {
    const examples = await examplesOf(name);
    expect(examples).toHaveLength(2);
    // setup reads coderd and AWS: its own tests run both
    for (const words of examples.filter(([command]) => command !== 'setup')) {
      const environment = { AUTOSCALER_CONFIG: MISSING, AUTOSCALER_CLUSTER: 'any', USER: 'ada' };
      const { code, out, err } = await runIn({ environment }, ...words);
      expect([0, 1], `${words.join(' ')}: ${err}`).toContain(code);
      if (code === 1) expect(out + err).toMatch(/\/nowhere|trace\.jsonl|before\.yaml/);
    }
  },
);

/** Each option of each command that takes one value: how it is given twice. Lists end their name with `...`. */
async function optionsOf(command: string): Promise<readonly (readonly string[])[]> {
  const { out: help } = await run(...command.split(' '), '--help');
  const rows = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z0-9-]+)( <[^>]*>)?/gm)];
  return rows
    .filter(([, long, value = '']) => long !== '--help' && !value.endsWith('...>'))
    .map(([, long = '', value]) => (value === undefined ? [long] : [long, VALUES[long] ?? '1']));
}

/** For options whose parser refuses `1`. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ '--from': '2026-03-02T08:58:00Z', '--to': '2026-03-02T08:58:00Z', '--timezone': 'UTC' },
  ...{ '--for': '1h', '--fail-on': 'unserved', '--region': 'us-east-1', '--against': 'none' },
  ...{ '--max-cost-increase': '1%', '--max-wait-increase': '1%', '--scenario': 'small-team' },
};

it('refuses every option of every command that is given twice and is no list', async () => {
  const all = [...commands.filter((name) => !['keys', 'trace'].includes(name)), ...NESTED];
  let seen = 0;
  for (const command of all)
    for (const [long = '', ...value] of await optionsOf(command)) {
      const once = [long, ...value];
      const { code, out, err } = await run(...command.split(' '), ...once, ...once);
      expect({ command, code, out, err }).toEqual({
        ...{ command, code: 2, out: '' },
        err: `error: ${long} is given twice, and takes one value. Keep one of them\n`,
      });
      seen++;
    }
  expect(seen).toBeGreaterThan(60);
});

const NESTED = ['keys rotate', 'trace export', 'trace check', 'trace generate'];

it('takes lists that are given twice', async () => {
  const { err } = await run('setup', '--skip', 'synth', '--skip', 'deploy', '--draft');
  expect(err).not.toContain('twice');
});
