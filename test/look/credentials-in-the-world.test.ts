/** Pools without a provisioner key serve jobs: the real look, coderd's own rules of admission. */
import { describe, expect, it } from 'vitest';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import { unservedSentence } from '../../lambda/explain/text.ts';
import { type LabPool, startLab, startLongLab } from '../support/lab.ts';

const ANN = '7d9bd02c-0d1c-4b0b-8d4c-0b0a7d4f6a11';
const BOB = '7d9bd02c-0d1c-4b0b-8d4c-0b0a7d4f6a12';
const OF_ANN = { scope: 'user', owner: ANN };
const OF_BOB = { scope: 'user', owner: BOB };

const POOLS: readonly LabPool[] = [
  { name: 'psk', organization: 'default', tags: { gpu: 'a,"b" c', zone: '=' }, credential: 'psk' },
  { name: 'token', organization: 'data', tags: { gpu: 'true' }, credential: 'token' },
  { name: 'ann', organization: 'data', tags: { ...OF_ANN, gpu: 'true' }, credential: 'token' },
  { name: 'bob', organization: 'data', tags: OF_BOB, credential: 'token' },
  { name: 'key', organization: 'data', tags: {} },
];

async function start(pools = POOLS, options: { readonly psk?: string; readonly overHttp?: boolean } = {}) {
  const given = { psk: 'shared', pools: pools.map((pool) => ({ ...pool, desiredCount: 0 })), ...options };
  const own = options.overHttp ? await startLab(given) : await startLongLab(given);
  const { coderd } = own.world;
  const submit = (organization: string, tags: Tags) =>
    coderd.submitJob({ organization, tags, durationMs: 60_000 });
  const daemons = () =>
    coderd.daemons().map(({ name, keyName, tags }) => ({ pool: name.replace(/-[^-]*$/, ''), keyName, tags }));
  return { own, coderd, submit, daemons };
}

describe('pools with a key, the pre-shared key and tokens', () => {
  it('each run the jobs that fit their credential, and scale in to zero without a kill', async () => {
    const { own, coderd, submit, daemons } = await start(POOLS, { overHttp: true });
    const jobs = POOLS.flatMap(({ organization, tags }) => [
      submit(organization, tags),
      submit(organization, tags),
    ]);
    await own.run(240);
    expect(jobs.map((id) => coderd.job(id)?.status)).toEqual(jobs.map(() => 'succeeded'));
    for (const { name, tags, credential = 'key' } of POOLS) {
      const keyName = { key: 'key', managed: 'key', psk: 'psk', token: 'user-auth' }[credential];
      const wanted = { pool: name, keyName, tags: { scope: 'organization', owner: '', ...tags } };
      expect(daemons().filter(({ pool }) => pool === name)).toEqual([wanted, wanted]);
    }
    await own.run(400);
    expect(POOLS.map(({ name }) => own.world.service(name).state.desiredCount)).toEqual(POOLS.map(() => 0));
    expect(own.world.figures().killed).toBe(0);
  });

  it('with the scope of a user run the builds of its workspaces, also those that start by schedule', async () => {
    const { own, coderd } = await start(POOLS.filter(({ name }) => name === 'bob'));
    const owner = coderd.user(BOB);
    const template = coderd.addTemplate({ organization: 'data', tags: OF_BOB });
    const schedule = 'CRON_TZ=UTC 30 9 * * *';
    const workspace = coderd.workspaces.add({ template, schedule, ...(owner && { owner }) });
    await own.invoke(40);
    expect(workspace.latestBuild).toMatchObject({
      transition: 'start',
      reason: 'autostart',
      job: { status: 'succeeded', tags: OF_BOB },
    });
    expect(own.world.service('bob').state.desiredCount).toBe(0);
  });
});

describe('a job with the scope of a user', () => {
  it('starts no task of a pool of another user or of the organization, and the plan says what to do', async () => {
    const { own, submit } = await start(POOLS.filter(({ name }) => name !== 'ann'));
    submit('data', { ...OF_ANN, gpu: 'true' });
    const [last] = (await own.run(30)).slice(-1);
    expect(own.world.figures().tasks.launched).toBe(0);
    expect(last?.plan.unserved).toMatchObject([{ why: 'scope-is-user', closest: null, jobs: 1 }]);
    expect(last?.plan.unserved.map((row) => unservedSentence(row, last.plan.takenAt))).toEqual([
      expect.stringContaining(
        `no pool has this scope and owner. Add a pool with the token of this user and tags: { scope: user, owner: ${ANN} }`,
      ),
    ]);
  });

  it('says which tag the pool of its user lacks', async () => {
    const { own, submit } = await start();
    submit('data', { ...OF_BOB, gpu: 'true' });
    const [last] = (await own.run(30)).slice(-1);
    expect(last?.plan.unserved).toMatchObject([
      { why: 'no-pool-has-these-tags', closest: { pool: 'bob', missing: { gpu: 'true' } } },
    ]);
  });
});

describe('a daemon that coderd refuses', () => {
  it('with the wrong pre-shared key runs nothing, and jobs of other pools are served', async () => {
    const { own, coderd, submit, daemons } = await start(POOLS);
    coderd.psk = 'another';
    const [lost, served] = [submit('default', POOLS[0]?.tags ?? {}), submit('data', { gpu: 'true' })];
    await own.run(240);
    expect([lost, served].map((id) => coderd.job(id)?.status)).toEqual(['pending', 'succeeded']);
    expect(daemons().some(({ pool }) => pool === 'psk')).toBe(false);
    // coderd is started again with the key of the secret
    coderd.psk = 'shared';
    await own.run(120);
    expect(coderd.job(lost)?.status).toBe('succeeded');
    expect(own.world.figures().killed).toBe(0);
  });

  it('with the token of another user than the owner of the pool is a finding', async () => {
    const { own, coderd, submit } = await start();
    own.world.secrets.put('coder/keys/ann', coderd.addToken({ canRead: [] }));
    submit('data', OF_ANN);
    const looks = await own.run(120);
    expect(looks.at(-1)?.plan.findings).toContainEqual(
      expect.objectContaining({ code: 'daemon-tags-differ', pool: 'ann' }),
    );
  });
});

it('a pool whose tags have an empty value keeps its tasks: coderd drops such a tag', async () => {
  const tags = { size: 'large', team: '' };
  const { own, coderd, submit } = await start([{ name: 'key', organization: 'data', tags, min: 1 }]);
  const job = submit('data', { size: 'large' });
  const looks = await own.run(300);
  expect(coderd.job(job)?.status).toBe('succeeded');
  expect(looks.at(-1)?.plan.findings).toEqual([]);
  expect(own.world.figures().tasks.launched).toBe(1);
});
