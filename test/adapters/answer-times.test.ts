/** How long the lists of jobs took, as the looks after them need it. */
import { describe, expect, it } from 'vitest';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { PATIENCE_OF_A_LOOK } from '../../lambda/adapters/coderd/http/retries.ts';
import type { EpochMs, JobId, OrganizationId } from '../../lambda/decision/model/brands.ts';
import { observe } from '../../lambda/look/observe.ts';
import { startLab } from '../support/lab.ts';
import { coderdClient, serve } from '../support/servers.ts';

const organization = { id: 'some-id' as OrganizationId, name: 'data' };
const MODERN = { version: 'v2.30.0' };

const NEW_FORM = 711;

/** A coderd whose answers take so many milliseconds each, in order. A negative one closes the connection instead. */
async function answering(...tookMs: readonly number[]) {
  let [now, requests] = [1_000, 0];
  const url = await serve((request, response) => {
    const ms = tookMs[requests++] ?? 0;
    now += Math.abs(ms);
    // as a coderd with a new form of the list, which first ignores the filter (coder#27919)
    const isNewForm = tookMs.includes(NEW_FORM) || request.url?.includes('q=');
    if (ms < 0) response.destroy();
    else response.end(isNewForm ? '{"jobs":[],"count":0}' : '[]');
  });
  const patience = { ...PATIENCE_OF_A_LOOK, retryMs: 0 };
  return new CoderdAdapter(coderdClient(url, { patience, now: () => now as EpochMs }));
}

describe('the time of a list of jobs', () => {
  it('is that from the request to the last byte', async () => {
    const coderd = await answering(700, 300);
    expect(await coderd.jobs(organization, MODERN)).toMatchObject({ status: 'ok', tookMs: 700 });
    expect(await coderd.jobs(organization, MODERN)).toMatchObject({ status: 'ok', tookMs: 300 });
  });

  it('is the sum of all requests for a list', async () => {
    const coderd = await answering(NEW_FORM, 300);
    expect(await coderd.jobs(organization, MODERN)).toMatchObject({ status: 'ok', tookMs: NEW_FORM + 300 });
  });

  it('is that of its last answer if it fails now', async () => {
    const coderd = await answering(3_000, -5, 2_000, -15_000);
    const took = async () => (await coderd.jobs(organization, MODERN)).tookMs;
    expect([await took(), await took(), await took(), await took()]).toEqual([3_000, 3_000, 2_000, 2_000]);
  });

  it('is that until the failure if it has never been read', async () => {
    const coderd = await answering(-8_000);
    expect(await coderd.jobs(organization, MODERN)).toMatchObject({ status: 'failed', tookMs: 8_000 });
  });

  it('is not that of another list or organization', async () => {
    const coderd = await answering(3_000, -5, -6);
    await coderd.jobs(organization, MODERN);
    expect(await coderd.jobsByIds(organization, ['one' as JobId])).toMatchObject({ tookMs: 5 });
    const other = { id: 'other-id' as OrganizationId, name: 'ml' };
    expect(await coderd.jobs(other, MODERN)).toMatchObject({ tookMs: 6 });
  });

  it('is known to the next invocation of the process', async () => {
    const lab = await startLab({
      pools: [{ name: 'cpu', organization: 'default', tags: {} }],
      onRequest: ({ operation }) => operation.endsWith('/provisionerjobs') && lab.pass(listS),
    });
    let listS = 3;
    const id = lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 1_000 });
    const jobs = async () => (await observe(lab.ports(), lab.config)).coder.organizations[0]?.jobs;
    expect(await jobs()).toMatchObject({ status: 'ok', tookMs: 3_000 });
    listS = 0;
    lab.world.coderd.unreadable.add(id);
    expect(await jobs()).toMatchObject({ status: 'failed', tookMs: 3_000 });
  });
});

it('a list of jobs is waited for although coderd sends nothing for longer than other lists may take', async () => {
  const isOther = Promise.withResolvers<void>();
  const url = await serve(async (request, response) => {
    if (request.url?.includes('provisionerjobs')) await isOther.promise.then(() => response.end('[]'));
  });
  const patience = { ...PATIENCE_OF_A_LOOK, silentMs: 100 };
  const coderd = new CoderdAdapter(coderdClient(url, { patience }));
  const jobs = coderd.jobs(organization, MODERN);
  expect(await coderd.daemons(organization, MODERN)).toMatchObject({ status: 'failed' });
  isOther.resolve();
  expect(await jobs).toMatchObject({ status: 'ok' });
});
