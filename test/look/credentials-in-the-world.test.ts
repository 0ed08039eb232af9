/** Pools without a provisioner key serve jobs: the real look, coderd's own rules of admission. */
import { describe, expect, it } from 'vitest';
import type { Tags } from '../../lambda/decision/model/tags.ts';
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
});
