import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const READY = {
  'package.json': '{ "version": "1.2.3", "repository": "github:a/b" }',
  'package-lock.json': '{ "version": "1.2.3" }',
  'CHANGELOG.md': '## [1.2.3] - 2026-01-02\n',
  'test/infra/upgrade/kept/1.2.3/minimal.snap': '{}',
};

/** A committed repository with these files, and what `npm run release` does in it. */
function release(changes: Readonly<Partial<Record<keyof typeof READY, string>>>) {
  const dir = ownFolder();
  for (const [path, text] of Object.entries({ ...READY, ...changes })) {
    mkdirSync(join(dir, dirname(path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  cpSync('packaging/release.sh', join(dir, 'packaging/release.sh'), { recursive: true });
  const sh = (command: string, input = '') => {
    const result = spawnSync('sh', ['-c', command], { cwd: dir, input, encoding: 'utf8' });
    return { status: result.status, text: result.stdout + result.stderr };
  };
  const author = 'git config user.name test && git config user.email test@example.com';
  expect(sh(`git init -q && ${author} && git add -A && git commit -qm all`).status).toBe(0);
  return { sh, ...sh('packaging/release.sh') };
}

it('tags a version that is ready, and pushes nothing without a yes', () => {
  const { sh, status, text } = release({});
  expect({ status, text }).toEqual({
    status: 0,
    text: 'Tagged v1.2.3. Push it to publish both packages? [y/N] Not pushed. Later: git push origin v1.2.3\n',
  });
  expect(sh('git tag').text).toBe('v1.2.3\n');
  expect(sh('packaging/release.sh').text).toBe('not released: the tag v1.2.3 exists; raise the version\n');
  expect(sh('touch new && packaging/release.sh').text).toContain('the work tree has changes');
});

it.each([
  { changes: { 'CHANGELOG.md': '## [Unreleased]\n' }, says: 'CHANGELOG.md has no section 1.2.3' },
  { changes: { 'package.json': '{ "version": "1.2.3" }' }, says: 'package.json names no repository' },
  {
    changes: { 'package-lock.json': '{ "version": "1.2.2" }' },
    says: 'package-lock.json has another version',
  },
  {
    changes: {
      'package.json': '{ "version": "1.2.4", "repository": "github:a/b" }',
      'CHANGELOG.md': '## [1.2.4] - 2026-01-02\n',
    },
    says: 'what an upgrade from it must keep is missing',
  },
])('refuses: $says', ({ changes, says }) => {
  const { sh, status, text } = release(changes);
  expect(status).toBe(1);
  expect(text).toContain(says);
  expect(sh('git tag').text).toBe('');
});

const run = (script: string) =>
  spawnSync(process.execPath, ['--require', './test/packages/trials/deny-network.cjs', '-e', script], {
    encoding: 'utf8',
  });

it.each([
  ['a socket', "require('node:net').connect(9, '127.0.0.1')"],
  ['an HTTP request', "require('node:http').get('http://127.0.0.1:65001')"],
  ['fetch', "fetch('http://127.0.0.1:65001')"],
])('a command of a trial fails if it uses the network by %s', (_, script) => {
  const { status, stderr } = run(script);
  expect(status).toBe(1);
  expect(stderr).toContain('this must work offline, but it connects to');
});

it('a command of a trial may use a local socket', () => {
  const { status } = run(
    "const s = require('node:net').connect('/nonexistent.sock'); s.on('error', () => process.exit(0))",
  );
  expect(status).toBe(0);
});
