/** Checks that a reader can type every command of docs/quickstart.md. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runIn } from '../support/cli-run.ts';

const page = readFileSync(new URL('../../docs/quickstart.md', import.meta.url), 'utf8');
const MISSING = '/nowhere/autoscaler.yaml';
/** test/demo/example.test.ts runs those that plan from examples/plan/. */
const commands = [...page.matchAll(/^\$ npx autoscaler (.*)$/gm)]
  .map(([, command = '']) => command)
  .filter((command) => !command.includes('examples/plan'));

/** The words of a line, as a shell splits it. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = '']) => quoted ?? bare);
}

beforeEach(() => {
  vi.stubEnv('AUTOSCALER_CONFIG', MISSING);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

it('has commands that look, change something and replay the past', () => {
  const names = commands.map((command) => wordsOf(command)[0]);
  for (const name of ['status', 'plan', 'doctor', 'pin', 'unpin', 'pause', 'resume', 'snapshot', 'backtest'])
    expect(names).toContain(name);
});

it.each(commands)(
  'has a command with the right options, which fails only for its files: %s',
  async (line) => {
    const files = wordsOf(line).map((word) => word.replace('dist/try', '/nowhere'));
    const environment = { AUTOSCALER_CONFIG: MISSING, AUTOSCALER_CLUSTER: 'any' };
    const { code, out, err } = await runIn({ environment }, ...files);
    expect({ code, text: out + err }).toEqual({ code: 1, text: expect.stringContaining('/nowhere') });
  },
);

it('has the options of npm run try', () => {
  const help = execFileSync(process.execPath, ['demo/try/main.ts', '--help'], { encoding: 'utf8' });
  const options = [...page.replaceAll('\n', ' ').matchAll(/`npm run try -- (--\w+) /g)].map(
    ([, option = '']) => option,
  );
  expect(options).toEqual(['--hours', '--out', '--seed']);
  for (const option of options) expect(help).toContain(option);
});
