/** The launcher of a clone: hints and pages name it, and it starts the command from any folder. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { cloneCommand } from '../../cli/shared/shell-words.ts';
import { runIn } from '../support/cli-run.ts';

it.each([
  { folder: '/clone', platform: 'linux', typed: './autoscaler' },
  { folder: '/clone/examples/plan', platform: 'darwin', typed: '../../autoscaler' },
  { folder: '/', platform: 'linux', typed: './clone/autoscaler' },
  { folder: '/my clone', platform: 'linux', typed: '../clone/autoscaler' },
  { folder: '/clone', platform: 'win32', typed: 'npx autoscaler' },
] as const)('is $typed in $folder on $platform', ({ folder, platform, typed }) => {
  expect(cloneCommand(folder, platform, '/clone/autoscaler')).toBe(typed);
});

it('is quoted if its folder has a space', () => {
  expect(cloneCommand('/', 'linux', '/my clone/autoscaler')).toBe("'./my clone/autoscaler'");
});

it('starts the command from another folder', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const out = execFileSync(resolve('autoscaler'), ['--version'], { cwd: tmpdir(), encoding: 'utf8' });
  expect(out.trim()).toBe(version);
});

it('stands in hints that the command writes with npx, too', async () => {
  const { out } = await runIn({ command: './autoscaler' }, 'setup', '--print', '--config', 'none.yaml');
  expect(out).toContain(' ./autoscaler setup --draft ');
  expect(out).not.toMatch(/npx \S*autoscaler/);
});

it('is what the pages of a clone name, and README has the way for Windows once', () => {
  const pages = ['README.md', 'lab/README.md', ...globSync('docs/*.md')];
  const others = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/npx\s+autoscaler/g)].map(() => page),
  );
  expect(others).toEqual(['README.md']);
});
