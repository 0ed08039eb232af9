import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const run = (script: string) =>
  spawnSync(process.execPath, ['--require', './packaging/matrix/deny-network.cjs', '-e', script], {
    encoding: 'utf8',
  });

it.each([
  ['a socket', "require('node:net').connect(9, '127.0.0.1')"],
  ['an HTTP request', "require('node:http').get('http://127.0.0.1:65001')"],
  ['fetch', "fetch('http://127.0.0.1:65001')"],
])('a command of the matrix fails if it uses the network by %s', (_, script) => {
  const { status, stderr } = run(script);
  expect(status).toBe(1);
  expect(stderr).toContain('this must work offline, but it connects to');
});

it('a command of the matrix may use a local socket', () => {
  const { status } = run(
    "const s = require('node:net').connect('/nonexistent.sock'); s.on('error', () => process.exit(0))",
  );
  expect(status).toBe(0);
});
