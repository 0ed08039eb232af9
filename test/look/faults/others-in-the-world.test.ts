/** Daemons outside the pools, with real looks and clients. */
import { afterEach, expect, it } from 'vitest';
import { DEFAULT_RELEASE } from '../../../simulator/coderd/rules/versions.ts';
import { type Lab, startLongLab } from '../../support/lab.ts';

let lab: Lab | undefined;
afterEach(() => lab?.close());

const GPU = { organization: 'default', tags: { pool: 'gpu' } };

/** A pool at zero, and a daemon outside the pools that has its tags and takes jobs. */
async function besideAnother() {
  const own = await startLongLab({ pools: [{ ...GPU, name: 'gpu', desiredCount: 0 }] });
  lab = own;
  const { coderd } = own.world;
  const key = coderd.addKey({ ...GPU, name: 'theirs' });
  const other = coderd.connect({ key, name: 'theirs', version: DEFAULT_RELEASE });
  const submit = () => coderd.submitJob({ ...GPU, durationMs: 60_000 });
  return { own, other, submit, desired: () => own.world.service('gpu').state.desiredCount };
}

it('launches nothing for a job that an idle daemon of others takes', async () => {
  const { own, other, submit, desired } = await besideAnother();
  await own.run(20);
  other.acquire(() => {});
  submit();
  await own.run(30);
  expect(desired()).toBe(0);
});

it('launches a task for a job that waits beside an idle daemon of others that has ended', async () => {
  const { own, other, submit, desired } = await besideAnother();
  await own.run(20);
  other.close();
  submit();
  await own.run(10);
  expect(desired()).toBe(0);
  await own.run(10);
  expect(desired()).toBe(1);
});
