/** ECS's list of services may lag behind the function's own write of a count. */
import { expect, it } from 'vitest';
import { lookAndAct } from '../../../lambda/look/look.ts';
import { type LabPool, startLongLab } from '../../support/lab.ts';

const gpu: LabPool = { name: 'gpu', organization: 'default', tags: {}, desiredCount: 0, max: 12 };
const LAG_S = 20;

/** Five daemons build, three people come, and two of them go again before the list shows the new count. */
async function play(seed: number) {
  const lab = await startLongLab({ pools: [gpu], seed, readLagMs: LAG_S * 1000 });
  const { world, config } = lab;
  const desired = (): number => world.service('gpu').state.desiredCount;
  const submit = () => world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 600_000 });
  const ports = lab.ports();
  for (let job = 0; job < 5; job++) submit();
  // the first list may be from before the service
  lab.pass(LAG_S);
  await lab.run(150, ports);
  expect(desired()).toBe(5);
  const late = [submit(), submit(), submit()];
  const raises: { readonly from: number; readonly to: number; readonly was: number }[] = [];
  for (let look = 0; look < 10; look++) {
    lab.pass(2);
    if (look === 2) for (const id of late.slice(0, 2)) world.coderd.cancelJob(id);
    const was = desired();
    const { plan } = await lookAndAct(ports, config);
    for (const action of plan.actions)
      if (action.kind === 'set-desired' && action.to > action.from)
        raises.push({ from: action.from, to: action.to, was });
  }
  return raises;
}

it.each([1, 2, 3, 4, 5])('never raises a count to less than it has set (seed %i)', async (seed) => {
  const raises = await play(seed);
  expect(raises[0]).toMatchObject({ to: 8 });
  expect(raises.filter(({ to, was }) => to < was)).toEqual([]);
});
