/** When `autoscaler prove` changes nothing: in a pool that has, or could get, other builds, or without a yes. */
import { expect, it } from 'vitest';
import type { LabPool } from '../../support/lab.ts';
import { CPU, PROVING, type ProveLab, proveLabs } from './prove-lab.ts';

const { open } = proveLabs();
const TAGS = { proving: 'yes' };

/** What could have changed something; `authcheck` only asks. */
const changesIn = ({ requests }: ProveLab): readonly string[] =>
  requests.filter((each) => /Update|Tag|coderd (?:POST|PUT|PATCH|DELETE)(?!.*authcheck)/.test(each));

type Refused = {
  readonly because: string;
  readonly says: string;
  readonly pools?: readonly LabPool[];
  readonly make?: (lab: ProveLab) => unknown;
};

const REFUSED: readonly Refused[] = [
  {
    because: 'a template has its tags',
    make: ({ world }) => world.coderd.addTemplate({ organization: 'default', name: 'web', tags: TAGS }),
    says: 'builds of template "web" can run there',
  },
  {
    because: 'a template has some of its tags',
    pools: [{ ...PROVING, tags: { ...TAGS, cluster: 'gpu' } }, CPU],
    make: ({ world }) =>
      world.coderd.addTemplate({ organization: 'default', name: 'gpu', tags: { cluster: 'gpu' } }),
    says: 'builds of template "gpu" can run there',
  },
  {
    because: 'a job waits for it',
    make: ({ world: { coderd } }) => {
      const version = { organization: 'default', tags: TAGS, durationMs: 60_000 };
      coderd.importVersion(version);
    },
    says: '(pending) can run there',
  },
  {
    because: 'a workspace has an older version with its tags',
    make: async ({ world: { coderd }, live }) => {
      const template = coderd.addTemplate({ organization: 'default', tags: TAGS });
      coderd.workspaces.add({ template, name: 'ann', running: true });
      coderd.pushVersion(template, { cluster: 'other' });
      await live(10_000);
    },
    says: 'builds of workspace "ann" can run there',
  },
  {
    because: 'another pool has its tags too',
    pools: [PROVING, { ...CPU, tags: { ...TAGS, cluster: 'gpu' } }],
    says: 'pool "cpu" could take its build',
  },
  {
    because: 'it has no tag',
    pools: [{ ...PROVING, tags: {} }],
    says: 'a pool without a tag of its own gets other builds',
  },
  {
    because: 'it has a task',
    pools: [{ ...PROVING, desiredCount: 1, min: 1 }, CPU],
    says: 'it has 1 task and a desired count of 1',
  },
  {
    because: 'it has an override',
    make: (lab) => lab.call('pause', 'proving', '--why', 'a test'),
    says: 'it has an override. Run: autoscaler resume proving',
  },
  {
    because: 'a list cannot be read',
    make: ({ world }) => world.ecs.throttleNext('ListTasks', 99),
    says: 'it must be sure that no other build can run there',
  },
  {
    because: "coderd refuses the person's token",
    make: ({ world, token }) => world.coderd.tokens.revoke(token),
    says: 'coderd answered 401',
  },
];

it.each(REFUSED)('refuses a pool if $because', async ({ pools, make, says }) => {
  const lab = await open(pools && { pools });
  await make?.(lab);
  const before = changesIn(lab).length;
  const { code, err, out } = await lab.prove();
  expect(err).toContain(says);
  expect(err).not.toMatch(/\n\s+at /);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(changesIn(lab).slice(before)).toEqual([]);
});

it('refuses a pool for which a template was pushed while it asked', async () => {
  const lab = await open();
  const ask = async (): Promise<string> => {
    lab.world.coderd.addTemplate({ organization: 'default', name: 'late', tags: TAGS });
    return 'y';
  };
  const { code, err } = await lab.callIn({ ask }, 'prove', 'proving');
  expect({ code, changes: changesIn(lab) }).toEqual({ code: 1, changes: [] });
  expect(err).toContain('builds of template "late"');
});

it('says what it will do, and does nothing without a yes', async () => {
  const lab = await open();
  const { code, err } = await lab.callIn({ ask: async () => '' }, 'prove', 'proving');
  expect({ code, changes: changesIn(lab) }).toEqual({ code: 0, changes: [] });
  expect(err).toMatchInlineSnapshot(`
    "This tries what the autoscaler assumes of AWS, in pool "proving".
      It pauses the pool and starts two tasks. A build that sleeps runs in one of them: the import of a template version.
      It lowers the desired count, sends drain requests, and starts a rolling deployment, which ends with the tasks.
      At the end it undoes all that, also after an error or Ctrl-C.
      It takes 15 to 20 minutes and costs about $0.05.
      If it is killed, the pause ends at 2 March 2026 09:46:00 UTC, and the autoscaler then removes the tasks.
      coderd keeps the template version, which belongs to no template. No workspace can use it.
    Nothing was changed
    "
  `);
});

it('does nothing if its file cannot be written', async () => {
  const lab = await open();
  const { code, err } = await lab.call('prove', 'proving', '--yes', '--out', '/nowhere/proved.json');
  expect({ code, changes: changesIn(lab) }).toEqual({ code: 1, changes: [] });
  expect(err).toContain('writing /nowhere/proved.json: ENOENT');
});

it('does nothing if nobody can answer', async () => {
  const lab = await open();
  expect(await lab.call('prove', 'proving')).toEqual({
    code: 2,
    out: '',
    err: 'error: prove changes a pool, and cannot ask here. Add --yes to start without a question\n',
  });
});
