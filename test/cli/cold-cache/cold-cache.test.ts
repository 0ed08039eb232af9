/** `autoscaler cold-cache` over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { ACCESS_KEY_OF_A_PERSON } from '../../../simulator/aws-http.ts';
import type { World } from '../../../simulator/world.ts';
import { type Answer, runIn } from '../../support/cli-run.ts';
import { type Lab, type LabPool, labConfig, startLab } from '../../support/lab.ts';

const TASKS = 10;
const pools: readonly LabPool[] = [
  { name: 'cpu', organization: 'default', tags: {}, desiredCount: TASKS, max: TASKS },
];
const folder = mkdtempSync(join(tmpdir(), 'autoscaler-cold-cache-'));
const config = join(folder, 'autoscaler.yaml');

const labs: Lab[] = [];
beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_A_PERSON);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const lab of labs.splice(0)) await lab.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Tasks that start while builds wait: the first build of each is surely its first. */
async function workedLab(downloadMs: number, warmMs = 4_000, more: object = {}): Promise<Lab> {
  const lab = await emptyLab();
  const { coderd } = lab.world;
  const init = { warmMs, providers: { 'aws 6.20': downloadMs }, spread: 0.1 };
  const template = coderd.addTemplate({ organization: 'default', name: 'aws', init, ...more });
  const workspaces = Array.from({ length: TASKS }, () => coderd.workspaces.add({ template }));
  for (const transition of ['start', 'stop'] as const) {
    for (const workspace of workspaces) coderd.build(workspace, transition);
    lab.pass(15 * 60);
  }
  return lab;
}

async function emptyLab(): Promise<Lab> {
  const lab = await startLab({ pools });
  labs.push(lab);
  writeFileSync(config, stringify(labConfig(lab.coderdUrl, pools)));
  return lab;
}

const coldCache = ({ world }: Lab, ...args: readonly string[]): Promise<Answer> =>
  runIn({ now: () => world.timeline.now() }, ...['cold-cache', '--config', config, '--rate', '50'], ...args);

function renew(world: World, token: Parameters<World['coderd']['addToken']>[0]): void {
  world.secrets.put(world.tokenSecretName, world.coderd.addToken(token));
}

describe('cold-cache', () => {
  it('prints what the downloads of first builds cost', async () => {
    const { code, out, err } = await coldCache(await workedLab(20_000));
    expect({ code, err }).toEqual({
      code: 0,
      err: 'reading the builds of 10 workspaces\nreading the timings of 20 builds\n',
    });
    expect(out).toMatch(
      /^empty provider caches cost \$\d\.\d\d a month \(\$\d\.\d\d to \$\d\.\d\d\): 20 builds/,
    );
    expect(out).toMatch(/first of its task +10 +2[34]\.\d s +(?:19|20)\.\d s \(/);
    expect(out).toMatch(/later +10 +[34]\.\d s\n/);
    expect(out).toContain('use --days 1: the month is computed from all of these days');
    expect(out).toContain('Put the providers into the image');
    expect(out).toMatch(/A cold build of "aws" costs \$0\.0\d, as much as \d+ min of an idle task/);
  });

  it('has the same figures as JSON', async () => {
    const { out } = await coldCache(await workedLab(20_000), '--json');
    const document = JSON.parse(out);
    expect(document).toMatchObject({
      ...{ version: 1, confidence: 0.95, sample: 100, timedBuilds: 20 },
      leftOut: { unlistedDaemon: 0, foreignDaemon: 0, unreadableWorkspaces: 0, withoutTimings: 0 },
      templates: [{ name: 'aws', verdict: 'cost', builds: 20, firstShare: 0.5 }],
    });
    const [first, warm] = document.templates[0].groups;
    expect([first.group, first.builds, warm.group, warm.builds]).toEqual(['first', 10, 'warm', 10]);
    expect(first.longerSeconds.value).toBeCloseTo(20, -0.5);
    const { month } = document;
    // 10 builds of 7 days at $0.10 a minute
    expect(month.personSeconds).toBeCloseTo((first.longerSeconds.value * 10 * 30) / 7, 1);
    expect(month.waitingDollars).toBeCloseTo((month.personSeconds * 0.1) / 60, 3);
    expect(month.dollars.value).toBeCloseTo(month.waitingDollars + month.fargateDollars, 3);
  });

  it('says which prices the dollars are made of', async () => {
    const { out } = await coldCache(await workedLab(20_000));
    expect(out).toContain(
      "dollars: a minute of waiting has the price of the setting waiting. Fargate's prices are those of us-east-1.",
    );
  });

  it('names a template that is deprecated', async () => {
    const lab = await workedLab(20_000, 4_000, { deprecated: 'use another one' });
    expect((await coldCache(lab)).out).toMatch(/^aws +all, 50 % first of their task +20 /m);
  });

  it('says that timings are missing if coderd has none of the chosen builds', async () => {
    const lab = await workedLab(20_000);
    for (const job of lab.world.coderd.jobs()) Object.assign(job, { stages: [] });
    const { code, out } = await coldCache(lab);
    expect(code).toBe(0);
    expect(out).toContain('Left out: 20 chosen builds; coderd has no timings of them for this user.');
    expect(out).toContain(
      'Left out: 20 builds; their templates have too few builds with timings to compare.',
    );
  });

  it('finds no cost if nothing is downloaded, and has no advice then', async () => {
    const { code, out } = await coldCache(await workedLab(0));
    expect(code).toBe(0);
    expect(out).toMatch(/^no cost of empty provider caches found: 20 builds/);
    expect(out).toMatch(/^aws +all, 50 % first of their task +20 +no cost found$/m);
    expect(out).not.toContain('what to do');
  });

  it('names a template whose later builds download too', async () => {
    const { out } = await coldCache(await workedLab(0, 15_000));
    expect(out).toMatch(
      /- Later builds of "aws" spend 1\d\.\d s in init too\. Check .*\.terraform\.lock\.hcl/,
    );
    expect(out).not.toContain('Put the providers into the image');
  });

  it('says that there are too few builds rather than guess', async () => {
    const lab = await emptyLab();
    const { coderd } = lab.world;
    coderd.build(
      coderd.workspaces.add({ template: coderd.addTemplate({ organization: 'default' }) }),
      'start',
    );
    lab.pass(15 * 60);
    const { code, out } = await coldCache(lab);
    expect(code).toBe(0);
    expect(out).toMatch(/^too few builds to say what empty provider caches cost: 1 build from/);
    expect(out).toContain('Left out: 1 build; their templates have too few builds with timings to compare.');
  });
});

describe('cold-cache without an answer', () => {
  it('fails if no task of the pools has built anything', async () => {
    expect(await coldCache(await emptyLab(), '--days', '2')).toEqual({
      ...{ code: 1, out: '' },
      err: expect.stringMatching(
        /reading the builds of the last 2 days: found none of these pools\. If there were builds, the token's user needs the organization template admin role/,
      ),
    });
  });

  it('fails if coderd lists none of the daemons any more, and says why', async () => {
    const lab = await workedLab(20_000);
    const { coderd } = lab.world;
    for (const { name } of coderd.keys.list(coderd.organizationId('default')))
      coderd.deleteKey('default', name);
    const { code, err } = await coldCache(lab);
    expect(code).toBe(1);
    expect(err).toContain('20 were run by daemons that coderd does not list any more');
  });

  it('names the role that is missing', async () => {
    const lab = await workedLab(20_000);
    renew(lab.world, { canRead: [], canReadWorkspaces: 'all' });
    const { code, err } = await coldCache(lab);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^listing provisioner daemons of organization "default": .*organization template admin/,
    );
    renew(lab.world, { canRead: 'all', canReadWorkspaces: [] });
    expect((await coldCache(lab)).err).toContain(
      'needs the organization template admin role to read workspaces',
    );
  });

  it.each([
    { args: ['--days', '8'], because: 'coderd keeps daemons for 7 days', shown: '1 to 7' },
    { args: ['--days', '0'], because: 'a period has a length', shown: '1 to 7' },
    { args: ['--sample', '7'], because: 'fewer cannot be compared', shown: '8 to 500' },
    { args: ['--rate', '1000'], because: 'coderd has other users', shown: '1 to 50' },
    { args: ['--rate', '1.5'], because: 'it is no whole number', shown: '1 to 50' },
  ])('refuses $args: $because', async ({ args, shown }) => {
    const { code, err } = await runIn({}, 'cold-cache', ...args);
    expect(code).toBe(2);
    expect(err).toContain(`Write a whole number, ${shown}.`);
  });
});
