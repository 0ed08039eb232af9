/** Commands that look live, while coderd or AWS accepts connections and never answers. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { SilenceLimit } from '../../cli/shared/live.ts';
import { runIn } from '../support/cli-run.ts';
import { type Lab, labConfig, startLab } from '../support/lab.ts';
import { ownFolder } from '../support/own-folder.ts';
import { type CloseLater, serve } from '../support/servers.ts';

const folder = ownFolder();
const pools = [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }];
const closers: Parameters<CloseLater>[0][] = [];
let lab: Lab;
let silent: string;

beforeAll(async () => {
  lab = await startLab({ pools });
  silent = await serve(
    () => {},
    (close) => closers.push(close),
  );
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(async () => {
  await Promise.all([lab.close(), ...closers.map((close) => close())]);
});

type Silent = { readonly coderd?: boolean; readonly aws?: readonly string[] };

/** Runs a command, and fails where it waits for longer than a few tries of the SDK. */
async function look(command: string, { coderd = false, aws = [] }: Silent) {
  const file = join(folder, 'autoscaler.yaml');
  writeFileSync(file, stringify(labConfig(coderd ? silent : lab.coderdUrl, pools)));
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDWATCH_LOGS', lab.awsUrl);
  for (const name of aws) vi.stubEnv(`AWS_ENDPOINT_URL_${name}`, silent);
  const place = ['--config', file, '--cluster', lab.world.ecs.clusterName];
  const startedAt = performance.now();
  const answer = await runIn({ silenceMs: 300 }, command, ...place);
  // without the limit, coderd alone takes 8 s and each request to AWS 15 s
  expect(performance.now() - startedAt).toBeLessThan(6_000);
  return answer;
}

describe.each(['plan', 'status'])('%s', (command) => {
  it.each([
    { scenario: 'AWS never answers', coderd: false },
    { scenario: 'neither coderd nor AWS ever answers', coderd: true },
  ])('gives up soon and names AWS only when $scenario', async ({ coderd }) => {
    const { code, out, err } = await look(command, { coderd, aws: ['ECS', 'SECRETS_MANAGER'] });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^listing services .*: timed out: no answer within 0\.3 s\. AWS does not answer\. Check AWS_REGION and the network \(VPN, proxy, VPC endpoint\)\n$/,
    );
  });

  it('gives up soon and names coderd first when coderd never answers', async () => {
    const { code, out, err } = await look(command, { coderd: true });
    expect(err).toMatch(
      /^error: .*no answer from coderd \(timed out: no answer within 0\.3 s\); check routes/,
    );
    expect(err).not.toContain('AWS');
    expect(out).toContain('cpu');
    expect(code).toBe(1);
  });
});

it('shows the rest of the status when the log never answers', async () => {
  const { code, out } = await look('status', { aws: ['CLOUDWATCH_LOGS'] });
  expect(out).toMatch(/^last look: unknown: .* the request timed out\. AWS does not answer\./m);
  expect(out).toContain('no jobs wait');
  expect(code).toBe(0);
});

it('ends the requests when no answer comes', async () => {
  const { signal } = new SilenceLimit(1);
  await vi.waitUntil(() => signal.aborted);
  expect(signal.reason).toMatchObject({ message: 'timed out: no answer within 0.001 s' });
});
