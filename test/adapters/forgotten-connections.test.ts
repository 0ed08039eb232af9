/** Connections that the far end forgot while nobody used them, as after a freeze of Lambda. */
import { afterEach, expect, it } from 'vitest';
import { connect } from '../../lambda/connect.ts';
import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import { recordNameOf } from '../../lambda/decision/model/service-tags.ts';
import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import { lookAndAct } from '../../lambda/look/look.ts';
import type { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import { type Lab, startLab } from '../support/lab.ts';
import { HOUR, MINUTE } from '../support/parts.ts';

const GAP_S = 360;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function connected({ config, world }: Lab) {
  const { ecs, stackName } = world;
  const record = recordNameOf(stackName);
  world.parameters.put(record, 'none');
  const now = () => world.timeline.now();
  const failures: string[] = [];
  const onRecordFailure = (message: string) => failures.push(message);
  const connection = connect(config, ecs.clusterName, undefined, {
    stack: stackName,
    record,
    now,
    onRecordFailure,
  });
  closing.push(connection.close);
  return { ports: connection.ports, failures };
}

it.each([2, 3, 10])('fail no look of %i pools', async (count) => {
  const lab = await startLab({
    pools: Array.from({ length: count }, (_, index) => ({
      name: `p${index}`,
      organization: `o${index}`,
      tags: {},
    })),
  });
  const { ports } = connected(lab);
  const look = async () => (await lookAndAct(ports(), lab.config)).failures.map(({ message }) => message);
  await look();
  for (const _ of [1, 2, 3]) {
    lab.forgetConnections();
    lab.pass(GAP_S);
    expect(await look()).toEqual([]);
  }
});

it('lose no record of builds', async () => {
  const puts: string[] = [];
  const lab = await startLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {} }],
    onRequest: ({ operation }) => operation === 'PutParameter' && puts.push(operation),
  });
  const { ports, failures } = connected(lab);
  const { record, ...own } = ports();
  const stock = own.stock as StockLearner;
  await record?.ready();
  for (let known = 1; known <= 12; known++) {
    lab.forgetConnections();
    lab.pass(GAP_S);
    const now = lab.world.timeline.now();
    const builds = Array.from({ length: known }, (_, index) => ({ at: now - HOUR + index, tookMs: MINUTE }));
    const logs = [{ tags: normalizeTags({}), builds }];
    stock.load({ organizations: [{ id: 'o' as OrganizationId, upTo: now, logs }], choices: [] }, now);
    await record?.save();
  }
  expect(failures).toEqual([]);
  expect(puts).toHaveLength(12);
});
