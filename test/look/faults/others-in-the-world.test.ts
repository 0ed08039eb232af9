/** Daemons outside the pools, with real looks and clients. */
import { expect, it } from 'vitest';
import { DEFAULT_RELEASE } from '../../../lab/world/coderd/rules/versions.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { planText } from '../../../lambda/explain/text.ts';
import { promisedLook } from '../../../lambda/look/look.ts';
import { cleanLook, startLongLab } from '../../support/lab.ts';

const GPU = { organization: 'default', tags: { pool: 'gpu' } };

/** A pool at zero, and a daemon outside the pools that has its tags and takes jobs. */
async function besideAnother() {
  const own = await startLongLab({ pools: [{ ...GPU, name: 'gpu', desiredCount: 0 }] });
  const { coderd } = own.world;
  const key = coderd.addKey({ ...GPU, name: 'theirs' });
  const other = coderd.connect({ key, name: 'theirs', version: DEFAULT_RELEASE });
  const submit = () => coderd.submitJob({ ...GPU, durationMs: 60_000 });
  return { own, other, submit, desired: () => own.world.service('gpu').state.desiredCount };
}

it('promises nothing for a daemon of others that has missed its heartbeat, and holds no launch for longer', async () => {
  const { own, other, submit, desired } = await besideAnother();
  other.close();
  own.pass(65);
  submit();
  own.pass(1);
  const plan = await promisedLook(own.ports(), own.config);
  expect(plan.assignment).toMatchObject([{ pool: null, jobs: 1, served: 'by-doubtful' }]);
  expect(plan.pendingJobs).toMatchObject([{ startsAt: null, why: 'daemon-may-have-left' }]);
  expect(planText(plan)).toMatch(/1 job; the free daemon that fits may have left/);
  expect(planText(plan)).not.toMatch(/takes them|starts now/);
  await own.run(10);
  expect(desired()).toBe(0);
  await own.run(10);
  expect(desired()).toBe(1);
});

/** A pool without tasks or with `desiredCount`, and idle daemons of others with these tags. */
async function besideIdle(tags: Tags, others: readonly Tags[], desiredCount = 0) {
  const pools = [{ name: 'own', organization: 'default', tags, desiredCount, min: desiredCount }];
  const own = await startLongLab({ pools });
  const { coderd } = own.world;
  await own.run(120);
  for (const [n, tagsOf] of others.entries()) {
    const key = coderd.addKey({ organization: 'default', tags: tagsOf, name: `key-${n}` });
    coderd.connect({ key, name: `other-${n}`, version: DEFAULT_RELEASE }).acquire(() => {});
  }
  const submit = () => coderd.submitJob({ organization: 'default', tags, durationMs: 60_000 });
  const statuses = () => coderd.jobs().map(({ status }) => status);
  return { own, submit, statuses, desired: () => own.world.service('own').state.desiredCount };
}

/** coderd wakes one of these for an untagged job, and seldom an untagged daemon. */
const TAGGED = [...'abcdefghijkl'].map((name) => ({ [name]: '1' }));

it.each([
  { of: 'others', others: [{}, ...TAGGED], own: 0, jobs: 1, seconds: [1, 15] },
  { of: 'its own pool', others: TAGGED, own: 2, jobs: 2, seconds: [1] },
])('says that an idle daemon of $of takes a job within 30 s, until it does', async (given) => {
  const { own, submit, statuses } = await besideIdle({}, given.others, given.own);
  for (let n = 0; n < given.jobs; n++) submit();
  for (const seconds of given.seconds) {
    own.pass(seconds);
    const plan = await promisedLook(own.ports(), own.config);
    expect(plan.assignment).toMatchObject([{ jobs: given.jobs, served: 'by-free' }]);
    const said = planText(plan).match(/\(untagged\): an idle daemon takes it within 30 s/g);
    expect(said).toHaveLength(given.jobs);
    expect(planText(plan)).not.toMatch(/starts now|may have left/);
  }
  own.pass(29);
  expect(new Set(statuses())).toEqual(new Set(['running']));
});

it.each([
  { prefix: 'x', scope: 'organization', because: 'no pool gives its daemons such a name' },
  { prefix: 'gpu', scope: 'user', because: 'its tags are those of a user' },
])('drains an idle task although a busy daemon claims it as $prefix-<task id>: $because', async (given) => {
  const own = await startLongLab({ pools: [{ ...GPU, name: 'gpu', desiredCount: 1 }] });
  const { coderd, ecs } = own.world;
  own.pass(120);
  const tags = { pool: 'theirs', scope: given.scope };
  const token = coderd.addToken(
    given.scope === 'user'
      ? { canRead: [], user: coderd.addUser({ id: 'mallory' }) }
      : { canRead: [], keyRights: { create: ['default'] } },
  );
  const name = `${given.prefix}-${ecs.tasks()[0]?.identity.id}`;
  const fake = coderd.connect({ token, tags, organization: 'default', name, version: DEFAULT_RELEASE });
  coderd.submitJob({
    ...{ organization: 'default', durationMs: 3_600_000, type: 'template_version_import' },
    tags: { ...tags, ...(given.scope === 'user' && { owner: 'mallory' }) },
  });
  fake.acquire(() => {});
  const looks = await own.run(1200);
  expect(own.world.service('gpu').state.desiredCount).toBe(0);
  expect(looks[0]?.plan.findings).toMatchObject([
    { code: 'possible-intruder', pool: 'gpu', daemons: [{ name, key: 'user-auth' }] },
  ]);
  expect(looks.flatMap(({ plan }) => plan.findings).map(({ code }) => code)).not.toContain(
    'daemon-tags-differ',
  );
});

it('is held for two minutes at most by daemons that took the name of its daemon and left', async () => {
  const own = await startLongLab({ pools: [{ ...GPU, name: 'gpu', desiredCount: 1, min: 1 }] });
  const { coderd, ecs } = own.world;
  await own.run(120);
  const [row] = coderd.daemons();
  const name = `gpu-${ecs.tasks()[0]?.identity.id}`;
  const member = coderd.addToken({ canRead: [], user: coderd.addUser({ id: 'mallory' }) });
  const key = coderd.addKey({ organization: 'default', tags: { pool: 'theirs' }, name: 'theirs' });
  const ofUser = { token: member, tags: { scope: 'user' }, organization: 'default' };
  for (const credential of [ofUser, { key }]) {
    const fake = coderd.connect({ ...credential, name, version: DEFAULT_RELEASE });
    await own.run(30);
    fake.close();
  }
  const taken = coderd.daemons().find(({ id }) => id === row?.id);
  expect(taken).toMatchObject({ createdAt: row?.createdAt, keyName: 'theirs', tags: { pool: 'theirs' } });
  const looks = await own.run(600, own.ports(), 10);
  const held = looks.filter(({ plan }) => plan.findings.some(({ code }) => code === 'daemons-share-task'));
  expect(held.length).toBeLessThanOrEqual(12);
  // its row has the tags of the other key for good, so the task is replaced
  await own.run(900);
  const { plan } = await cleanLook(own.ports(), own.config);
  expect({ ...plan.findings }).toEqual({});
});
