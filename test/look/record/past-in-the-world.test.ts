/** A process without a record in a world that has a past. */
import { expect, it } from 'vitest';
import { pastBuild } from '../../../lab/world/coderd/tables/workspaces.ts';
import type { World } from '../../../lab/world/world.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { DAY_MS as DAY, HOUR_MS as HOUR, MINUTE_MS as MINUTE } from '../../../lambda/decision/model/units.ts';
import { PastBuilds } from '../../../lambda/look/stock/past-builds.ts';
import type { StockLearner } from '../../../lambda/look/stock/stock-learner.ts';
import { type LabPool, START, startLab } from '../../support/lab.ts';

const CPU: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 };
const BUILDS = /^GET \/api\/v2\/workspaces\/[^/]+\/builds$/;

/** People who start at ten and whose workspaces coderd stops at night, on each of six days. */
function addPast({ coderd }: World, people: number): void {
  const template = coderd.addTemplate({ organization: 'default' });
  for (let person = 0; person < people; person++) {
    const builds = Array.from({ length: 6 }, (_, index) => plusMs(START, (index - 6) * DAY)).flatMap(
      (day) => [
        { at: plusMs(day, HOUR + person * 7 * MINUTE), transition: 'start', reason: 'initiator' } as const,
        { at: plusMs(day, 11 * HOUR), transition: 'stop', reason: 'autostop' } as const,
      ],
    );
    const [first, ...later] = builds.map(({ at, ...rest }, index) => {
      const endedAt = plusMs(at, 2 * MINUTE);
      const id = `past-${person}-${index}`;
      return pastBuild({ ...rest, id, template, initiatorId: coderd.userId, at, endedAt });
    });
    if (first === undefined) return;
    const { id } = coderd.workspaces.add({ template, ttlMs: 0, latest: first, since: first.createdAt });
    for (const build of later) coderd.workspaces.adopt(id, build);
  }
}

async function startWith(people: number) {
  const requests: string[] = [];
  const lab = await startLab({ pools: [CPU], onRequest: ({ operation }) => requests.push(operation) });
  addPast(lab.world, people);
  const asked = (): number => requests.filter((operation) => BUILDS.test(operation)).length;
  return { lab, requests, asked };
}

it('learns from the builds of people in the days before, and from no autostop', async () => {
  const { lab, asked } = await startWith(4);
  const looks = await lab.invoke(3);
  expect(asked()).toBe(4);
  const learned = looks.map(({ snapshot: { stock } }) =>
    stock?.tagSets.map(({ durationsMs }) => durationsMs),
  );
  // the latest build of each workspace is an autostop
  expect(learned.slice(0, 2)).toEqual([undefined, []]);
  expect(learned[2]).toEqual([new Array(4 * 6).fill(2 * MINUTE)]);
});

it('launches for the jobs of its first look before it asks, at most 20 times', async () => {
  const { lab, requests, asked } = await startWith(30);
  lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
  await lab.invoke(3);
  expect(asked()).toBe(20);
  const launchedAt = requests.findIndex((operation) => /UpdateService/.test(operation));
  expect(launchedAt).toBeGreaterThan(-1);
  expect(launchedAt).toBeLessThan(requests.findIndex((operation) => BUILDS.test(operation)));
});

it('asks for nothing where nothing was built', async () => {
  const { lab, asked } = await startWith(0);
  await lab.invoke(3);
  expect(asked()).toBe(0);
});

it('looks as before when coderd refuses the builds', async () => {
  const { lab } = await startWith(9);
  const ports = lab.ports();
  const refused: string[] = [];
  const source = { read: async () => void refused.push('read') };
  const learner = ports.stock as StockLearner;
  const looks = await lab.invoke(3, () => ({ ...ports, past: new PastBuilds({ source, learner }) }));
  expect(refused).not.toEqual([]);
  expect(looks.flatMap(({ failures }) => failures)).toEqual([]);
});
