/** What a first deployment starts: CloudFormation creates each service with a desired count of 1. */
import { afterEach, expect, it } from 'vitest';
import { type Lab, startLongLab } from '../support/lab.ts';

let lab: Lab | undefined;
afterEach(() => lab?.close());

it('starts one task of each pool with min 0, and is at zero four minutes later', async () => {
  const names = ['cpu', 'gpu', 'arm'];
  lab = await startLongLab({
    pools: names.map((name) => ({ name, organization: 'default', tags: { name }, min: 0 })),
  });
  const counts = () => names.map((name) => lab?.world.service(name).state.desiredCount);
  await lab.invoke(1);
  expect({ counts: counts(), ...lab.world.figures().tasks }).toMatchObject({
    counts: [1, 1, 1],
    running: 3,
    launched: 3,
  });
  await lab.invoke(3);
  expect({ counts: counts(), ...lab.world.figures().tasks }).toMatchObject({
    counts: [0, 0, 0],
    running: 0,
    launched: 3,
  });
});
