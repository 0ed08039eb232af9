/** Rows that cannot be read: they are left out and named, and the list counts as incomplete. */
import { describe, expect, it } from 'vitest';
import type { Reading } from '../../lambda/decision/model/snapshot.ts';
import { startLab } from '../support/lab.ts';

const POOLS = [
  { name: 'a', organization: 'default', tags: { pool: 'a' }, desiredCount: 2, min: 2 },
  { name: 'b', organization: 'data', tags: {}, desiredCount: 1, min: 1 },
] as const;

async function running() {
  const lab = await startLab({ pools: POOLS });
  const { world } = lab;
  for (const tags of [{ pool: 'a' }, { pool: 'a' }, { pool: 'x' }])
    world.coderd.submitJob({ organization: 'default', tags, durationMs: 3_600_000 });
  lab.pass(300);
  const { coderd, ecs } = lab.ports();
  const organizations = (await coderd.organizations()).items;
  const organization = organizations.find(({ name }) => name === 'default');
  const [task] = world.service('a').tasks;
  if (organization === undefined || task === undefined) throw new Error('the world has no task');
  return { lab, world, coderd, ecs, organizations, organization, id: task.identity.id };
}

const text = ({ status, error, items, leftOut }: Reading<unknown>) => ({
  status,
  error,
  items: items.length,
  of: leftOut?.map(({ of }) => of),
});

describe('a row that cannot be read is left out of', () => {
  it('jobs', async () => {
    const { world, coderd, organization } = await running();
    const [job] = world.coderd.jobs();
    world.coderd.unreadable.add(job?.id ?? '');
    expect(text(await coderd.jobs(organization, { version: 'v2.30.0' }))).toEqual({
      status: 'truncated',
      error: `listing provisioner jobs of organization "default": 1 of 3 rows cannot be read and is left out: "${job?.id}" (tags: expected record, saw 7)`,
      items: 2,
      of: [undefined],
    });
  });

  it('daemons', async () => {
    const { world, coderd, organization } = await running();
    const { items } = await coderd.daemons(organization, undefined);
    const [daemon] = items;
    world.coderd.unreadable.add(daemon?.id ?? '');
    const reading = await coderd.daemons(organization, undefined);
    expect(reading.items).toEqual(items.slice(1));
    expect(reading.error).toContain(`1 of 2 rows cannot be read and is left out: "${daemon?.name}" (tags: `);
  });

  it('services, and other services of the cluster are not missed', async () => {
    const { world, ecs, lab } = await running();
    world.ecs.unreadable.add(world.service('a').identity.name);
    const others = world.service('b').state.primary.definition;
    world.ecs.createService({ name: 'others', definition: others, hasShortArn: true });
    world.ecs.createService({ name: 'strange', definition: others });
    world.ecs.unreadable.add('strange');
    for (const _ of ['the first look', 'the next one'])
      expect(text(await ecs.services())).toEqual({
        status: 'truncated',
        error: expect.stringMatching(
          /: 1 of 2 rows cannot be read .*"\S+" \(desiredCount: expected number, saw nothing\)/,
        ),
        items: 1,
        of: ['a'],
      });
    world.ecs.unreadable.clear();
    expect(await lab.ports().ecs.services()).toMatchObject({ status: 'ok', items: [{}, {}] });
  });

  it('tasks and protections', async () => {
    const { world, ecs, id } = await running();
    world.ecs.unreadable.add(id);
    const { name } = world.service('a').identity;
    const services = await ecs.services();
    const tasks = await ecs.tasks(services.items);
    expect(text(tasks)).toMatchObject({ status: 'truncated', items: 2, of: [`service:${name}`] });
    expect(tasks.error).toMatch(/1 of 3 rows cannot be read .*\/[0-9a-f]{32}" \(lastStatus: /);
    const { arn } = world.ecs.findTask(id)?.identity ?? {};
    const all = [...tasks.items.map(({ taskArn }) => taskArn), ...(arn === undefined ? [] : [arn])];
    expect(text(await ecs.protections(all))).toMatchObject({ status: 'truncated', items: 2, of: [arn] });
  });

  it('workspaces and templates, which leaves the lists of other organizations whole', async () => {
    const { world, coderd, organizations } = await running();
    const templates = ['default', 'data'].map((organization) =>
      world.coderd.addTemplate({ organization, tags: {}, name: organization }),
    );
    const workspaces = templates.flatMap((template) =>
      ['one', 'two'].map((name) => world.coderd.workspaces.add({ template, name })),
    );
    world.coderd.unreadable.add(workspaces[0]?.id ?? '');
    world.coderd.unreadable.add(templates[1]?.id ?? '');
    const now = world.timeline.now();
    const forecast = await coderd.forecast(organizations, { now, refreshMs: 60_000 });
    const read = (name: string) => {
      const found = organizations.find((each) => each.name === name);
      return found && forecast.get(found.id);
    };
    const [own, data] = [read('default'), read('data')];
    expect(own?.workspaces).toMatchObject({ status: 'truncated', items: [{}] });
    expect(own?.workspaces.error).toMatch(
      /^listing workspaces: 1 of 2 rows cannot be read .*"one" \(template_id: /,
    );
    expect(own?.templates.status).toBe('ok');
    expect(data?.workspaces).toMatchObject({ status: 'ok', items: [{}, {}] });
    expect(data?.templates).toMatchObject({ status: 'truncated', items: [] });
    expect(data?.templates.error).toMatch(
      /^listing templates: 1 of 1 rows cannot be read .*"data" \(active_version_id: /,
    );
  });
});
