/** Rows of ECS's lists that could not be read: which pools they concern, and what absence does not prove. */
import { expect, it } from 'vitest';
import type { ServiceArn } from '../../../lambda/decision/model/brands.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { deriveDoubts } from '../../../lambda/decision/supply/doubts.ts';
import { deriveSupply } from '../../../lambda/decision/supply/supply.ts';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import {
  aConfig,
  aDaemon,
  anOrganization,
  aPool,
  arnOf,
  aService,
  aSnapshot,
  aTask,
  daemonId,
  poolName,
  reading,
  taskIdOf,
} from '../../support/parts.ts';
import { table } from '../../support/table.ts';

type List = 'services' | 'tasks' | 'protections';

const POOLS = ['cpu', 'gpu', 'new'].map((name) => aPool({ name: poolName(name), tags: { pool: name } }));
/** The pool `new` has no service that could be read. */
const SERVICES = ['cpu', 'gpu'].map((name) =>
  aService({
    serviceArn: `arn:service/${name}` as ServiceArn,
    serviceName: `Stack-${name}`,
    tags: [{ key: 'coder-autoscaler:pool', value: name }],
  }),
);
const TASKS = [1, 2].map((index) =>
  aTask({ taskArn: arnOf(index), group: `service:Stack-${index === 1 ? 'cpu' : 'gpu'}` }),
);

function judge(list: List, of: string | undefined) {
  const base = aSnapshot({ services: SERVICES, tasks: TASKS });
  const leftOut = [{ row: 'x', why: 'y', of }];
  const read = { ...base.ecs[list], status: 'truncated', error: 'why', leftOut } as const;
  const snapshot: Snapshot = { ...base, ecs: { ...base.ecs, [list]: read } };
  const supply = deriveSupply(snapshot, aConfig(...POOLS));
  const { doubtsOf, findings } = deriveDoubts(supply, snapshot);
  const doubted = supply.filter((view) => doubtsOf(view).includes(`${list}-truncated`));
  return { doubted: doubted.map(({ pool }) => pool.name).join(' '), findings };
}

it.each(table<{ readonly list: List; readonly of: string | undefined; readonly doubted: string }>`
  list           | of                    | doubted
  ${'services'}    | ${'cpu'}              | cpu
  ${'services'}    | ${'cpu/spot'}         | cpu
  ${'services'}    | ${undefined}          | new
  ${'tasks'}       | ${'service:Stack-gpu'} | gpu
  ${'tasks'}       | ${undefined}          | cpu gpu new
  ${'protections'} | ${arnOf(1)}           | cpu
  ${'protections'} | ${undefined}          | cpu gpu new
`)('a row of $list that belongs to $of holds scale-in of $doubted', ({ list, of, doubted }) => {
  const judged = judge(list, of);
  expect(judged.doubted).toBe(doubted);
  expect(judged.findings).toContainEqual({ code: `${list}-truncated`, error: 'why', leftOut: 1 });
});

it('a task that is left out counts as one that may run a build', () => {
  const task = aTask({ taskArn: arnOf(1) });
  const busy = aDaemon({ id: daemonId('d'), name: `cpu-${taskIdOf(1)}`, status: 'busy' });
  const service = aService({ desiredCount: 1, runningCount: 1 });
  const base = aSnapshot({
    organizations: [anOrganization({ daemons: reading([busy]) })],
    services: [service],
  });
  const leftOut = [{ row: task.taskArn, why: 'y', of: task.group }];
  const tasks = { status: 'truncated', items: [], leftOut } as const;
  const [view] = deriveSupply({ ...base, ecs: { ...base.ecs, tasks } }, aConfig(aPool()));
  expect(view).toMatchObject({ unseen: 1, missing: 0, orphans: [] });
});

it('a job that is left out is not called one of the oldest', () => {
  const finding = {
    code: 'jobs-truncated',
    organization: 'default',
    error: '1 of 2 rows is left out',
  } as const;
  expect(sentenceOf({ ...finding, leftOut: 1 })).not.toContain('oldest');
  expect(sentenceOf(finding)).toContain('. The oldest pending jobs may be missing');
});
