/** What the audit of the ledger finds in worlds whose deaths are known. */
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { OrphanEvent } from '../../../lambda/look/orphan-event.ts';
import type { EcsTask } from '../../../simulator/ecs/task.ts';
import { World } from '../../../simulator/world.ts';
import { auditLedger, DaemonRows } from '../../../verify/random-worlds/audit-ledger.ts';
import { drawPlan } from '../../../verify/random-worlds/world/plan.ts';

/** A world in which a host failure has just killed a build. */
function afterADeath() {
  const rows = new DaemonRows();
  const pools = [{ name: 'cpu', organization: 'default', tags: {} }];
  const world: World = new World({
    ...drawPlan(1).world,
    pools,
    onTaskStopped: (task: EcsTask) => rows.taskStopped(world, task),
  });
  const pass = (minutes: number) =>
    world.timeline.advanceTo(plusMs(world.timeline.now(), minutes * MINUTE_MS));
  pass(5);
  world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60 * MINUTE_MS });
  pass(1);
  for (const { identity } of world.service('cpu').tasks) world.ecs.hostFailure(identity.id);
  const [kill] = world.kills();
  if (kill === undefined) throw new Error('no build was killed');
  const { job, task } = kill;
  const audit = (orphans: readonly string[], unknownTasks: readonly string[] = []) =>
    auditLedger({
      world,
      rows,
      crashes: [],
      log: {
        orphans: new Map(orphans.map((id) => [id, { job: id } as unknown as OrphanEvent])),
        unknownTasks: new Set(unknownTasks),
      },
    });
  return { world, pass, audit, job: job.id as string, task: task.identity.id };
}

describe('the audit of the ledger', () => {
  it('finds nothing wrong if the looks listed exactly the build that died', () => {
    const { audit, job, pass } = afterADeath();
    pass(60);
    expect(audit([job])).toEqual({
      figures: { died: 1, listed: 1, invented: 0, unknowable: 0, saidUnknown: 0 },
      problems: [],
    });
  });

  it('finds a build that no look listed', () => {
    const { audit, job, pass } = afterADeath();
    pass(60);
    const { figures, problems } = audit([]);
    expect(figures).toMatchObject({ died: 1, listed: 0, unknowable: 0 });
    expect(problems).toEqual([expect.stringContaining(`no look reported that job ${job} died`)]);
  });

  it('finds a build that a look invented', () => {
    const { audit, job } = afterADeath();
    const { figures, problems } = audit([job, 'another']);
    expect(figures).toMatchObject({ died: 1, listed: 1, invented: 1 });
    expect(problems).toEqual([expect.stringContaining('a look reported that job another died')]);
  });

  it('allows a build to be missing whose daemon lost its row with its key, and counts it', () => {
    const { world, audit, pass, task } = afterADeath();
    world.deleteKey('cpu');
    pass(60);
    expect(audit([], [task])).toEqual({
      figures: { died: 1, listed: 0, invented: 0, unknowable: 1, saidUnknown: 1 },
      problems: [],
    });
  });
});
