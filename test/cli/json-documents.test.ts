/**
 * Every JSON document has its version and the fields that docs/internals/json.md lists. Tests of setup --draft and
 * keys rotate do the same.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aBuild, aFolder } from '../../lab/test/cli/folder.ts';
import { run } from '../support/cli-run.ts';
import { commandLabs } from '../support/command-lab.ts';
import { expectDocument } from '../support/json-document.ts';

describe('without a server', () => {
  const { path, config, trace } = aFolder();
  const before = config('before.yaml', [{ min: 1 }]);
  const after = config('after.yaml', [{ min: 2 }]);
  const file = trace('one.jsonl', [aBuild(1)]);
  const replayed = ['--trace', file, '--workers', '1'];
  it.each([
    { command: 'validate', args: [before] },
    { command: 'trace check', args: [file] },
    {
      command: 'trace generate',
      args: ['--scenario', 'small-team', '--days', '1', '--out', path('made.jsonl')],
    },
    {
      command: 'backtest',
      args: ['--config', before, '--against', 'none', '--mean-wait', '900', ...replayed],
    },
    { command: 'backtest --before', args: [before, '--config', after, '--seeds', '2', ...replayed] },
  ])('$command has the documented fields', async ({ command, args }) => {
    const { out, err } = await run(...command.split(' '), ...args, '--json');
    expect(out, err).not.toBe('');
    expectDocument(command, out);
  });
});

describe('of a live deployment', () => {
  const { folder, start } = commandLabs();

  it('have the documented fields', async () => {
    const lab = await start({
      pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 1, min: 1, max: 4 }],
    });
    lab.pass(180);
    const job = lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 30_000 });
    lab.pass(120);
    const commands = [
      { command: 'status', args: [] },
      { command: 'plan', args: [] },
      { command: 'explain --dead', args: [] },
      { command: 'doctor', args: [] },
      { command: 'setup', args: ['--print'] },
      { command: 'explain', args: [job] },
      { command: 'pin', args: ['cpu', '2', '--why', 'a test'] },
      { command: 'trace export', args: ['--out', join(folder, 'trace.jsonl')] },
    ];
    for (const { command, args } of commands) {
      const { out, err } = await lab.call(...command.split(' '), ...args, '--json');
      expect(out, `${command}: ${err}`).not.toBe('');
      expectDocument(command, out);
    }
  });
});
