/** The example in examples/plan/, and docs/quickstart.md, which shows its plan. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exampleSnapshot } from '../../demo/example-snapshot.ts';
import { snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import { loadConfig } from '../../lambda/config/load.ts';
import { run } from '../support/cli-run.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const PROMPT = '$ npx autoscaler ';
/** Command and output of each block that plans from the example. */
const shown = [...read('docs/quickstart.md').matchAll(/^```\n\$ npx autoscaler (.*)\n([\s\S]*?)^```$/gm)]
  .map(([, command = '', output = '']) => ({ command, output }))
  .filter(({ command }) => command.includes('examples/plan'));

describe('the example of a plan', () => {
  it('is shown twice, once with --explain', () => {
    expect(shown.map(({ command }) => command.includes(' --explain gpu'))).toEqual([false, true]);
  });

  it.each(shown)(`gives what the docs show: ${PROMPT}$command`, async ({ command, output }) => {
    expect(await run(...command.split(' '))).toEqual({ code: 0, out: output, err: '' });
  });

  it('has changes, pending jobs, a limit and an unschedulable job', async () => {
    const [first] = shown;
    expect(first?.output).toMatch(/^ {2}\+ /m);
    expect(first?.output).toMatch(/^ {2}~ /m);
    expect(first?.output).toContain('limited to 2 by max');
    expect(first?.output).toMatch(/^unschedulable jobs:$/m);
  });

  it('is what node demo/write-example.ts writes', async () => {
    const { config } = loadConfig('examples/plan/autoscaler.yaml');
    const snapshot = snapshotToJson(await exampleSnapshot(config));
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(JSON.parse(read('examples/plan/snapshot.json')));
  });

  it('works for another time', async () => {
    const [first] = shown;
    const command = (first?.command ?? '').split(' ');
    expect((await run(...command, '--at', '2026-03-02T09:03:00Z')).code).toBe(0);
  });

  it('contains no token and no secret', () => {
    expect(read('examples/plan/snapshot.json')).not.toMatch(/token|secret|password/i);
  });
});
