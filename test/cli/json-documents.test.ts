/** Every JSON document has its version and the fields that docs/internals/json.md lists. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { ACCESS_KEY_OF_A_PERSON } from '../../simulator/aws-http.ts';
import { run, runIn } from '../support/cli-run.ts';
import { type Lab, labConfig, startLab } from '../support/lab.ts';
import { aBuild, aFolder } from './compare/inputs.ts';

const rows = [...readFileSync('docs/internals/json.md', 'utf8').matchAll(/^\| `([a-z -]+)` \| (.+) \|$/gm)];
const FIELDS = new Map(rows.map(([, command = '', fields = '']) => [command, namesIn(fields)]));

function namesIn(fields: string): readonly string[] {
  return ['version', ...[...fields.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)].sort();
}

function expectDocument(command: string, out: string): void {
  const document = JSON.parse(out);
  expect(document.version).toBe(1);
  expect(Object.keys(document).sort()).toEqual(FIELDS.get(command));
}

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
    { command: 'backtest', args: ['--config', before, '--against', 'none', ...replayed] },
    { command: 'compare', args: [before, after, '--seeds', '2', ...replayed] },
  ])('$command has the documented fields', async ({ command, args }) => {
    const { out, err } = await run(...command.split(' '), ...args, '--json');
    expect(out, err).not.toBe('');
    expectDocument(command, out);
  });
});

describe('of a live deployment', () => {
  const folder = mkdtempSync(join(tmpdir(), 'autoscaler-json-'));
  const file = join(folder, 'autoscaler.yaml');
  let lab: Lab | undefined;
  beforeEach(() => vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON));
  afterEach(async () => {
    vi.unstubAllEnvs();
    await lab?.close();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function open() {
    const pools = [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 1, min: 1, max: 4 }];
    const own = await startLab({ pools });
    lab = own;
    vi.stubEnv('AWS_ENDPOINT_URL_CLOUDWATCH_LOGS', own.awsUrl);
    writeFileSync(file, stringify(labConfig(own.coderdUrl, pools)));
    own.pass(180);
    const job = own.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 30_000 });
    own.pass(120);
    return { own, job };
  }

  it('have the documented fields', async () => {
    const { own, job } = await open();
    const { world } = own;
    const environment = { AUTOSCALER_CLUSTER: world.ecs.clusterName, USER: 'ada' };
    const commands = [
      { command: 'status', args: [] },
      { command: 'plan', args: [] },
      { command: 'snapshot', args: [] },
      { command: 'sizes', args: [] },
      { command: 'orphans', args: [] },
      { command: 'doctor', args: [] },
      { command: 'explain-job', args: [job] },
      { command: 'keys list', args: [] },
      { command: 'keys check', args: [] },
      { command: 'pin', args: ['cpu', '2', '--why', 'a test'] },
      { command: 'unpin', args: ['cpu'] },
      { command: 'trace export', args: ['--out', join(folder, 'trace.jsonl')] },
    ];
    for (const { command, args } of commands) {
      const words = [...command.split(' '), ...args, '--config', file, '--json'];
      const { out, err } = await runIn({ environment, now: () => world.timeline.now(), pollMs: 0 }, ...words);
      expect(out, `${command}: ${err}`).not.toBe('');
      expectDocument(command, out);
    }
  });
});
