/** Other writers of the same services, with real looks and clients. */
import { describe, expect, it } from 'vitest';
import { trackTarget } from '../../../lab/world/ecs/scaling.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import { POOL_TAG, STACK_TAG } from '../../../lambda/decision/model/service-tags.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { cleanLook, type Lab, type LabPool, startLongLab } from '../../support/lab.ts';
import { IS_FULL } from '../../support/runs.ts';

const pool = (name: string): LabPool => ({
  name,
  organization: 'default',
  tags: { pool: name },
  desiredCount: 0,
});
const submit = ({ world }: Lab, tags: LabPool['tags'], minutes: number) =>
  world.coderd.submitJob({ organization: 'default', tags, durationMs: minutes * 60_000 });
const desired = ({ world }: Lab, name: string) => world.service(name).state.desiredCount;
const byOthers = (findings: readonly Finding[]) =>
  findings.filter(({ code }) => code === 'count-changed-by-others');

const isContested = (findings: readonly Finding[]) => findings.some(({ code }) => code === 'count-contested');

/** The configuration without its last pool. */
const shortened = ({ config }: Lab): Config => ({ ...config, pools: config.pools.slice(0, -1) });

describe('a desired count that somebody else changes', () => {
  it('is reported once for each change and corrected', async () => {
    const lab = await startLongLab({ pools: [pool('cpu')] });
    submit(lab, { pool: 'cpu' }, 30);
    const ports = lab.ports();
    expect(byOthers((await lab.run(60, ports)).flatMap(({ plan }) => plan.findings))).toEqual([]);
    lab.world.ecs.setDesiredCount(lab.world.service('cpu').identity.name, 7);
    const [first, ...later] = await lab.run(60, ports);
    expect(byOthers(first?.plan.findings ?? [])).toEqual([
      { code: 'count-changed-by-others', pool: 'cpu', from: 1, to: 7 },
    ]);
    expect(later.flatMap(({ plan }) => byOthers(plan.findings))).toEqual([]);
  });
});

describe('Application Auto Scaling on the service of a pool', () => {
  const HOURS = IS_FULL ? 3 : 1.5;
  /** Three builds of 2 minutes every 10 minutes, and a look every 20 s. */
  async function work(bounds: { readonly min: number; readonly max: number } | undefined, warm = 0) {
    const lab = await startLongLab({ pools: [{ ...pool('cpu'), warm, max: 12 }] });
    const { world } = lab;
    const { identity } = world.service('cpu');
    const inUse = () => world.coderd.jobs().filter(({ status }) => status === 'running').length;
    if (bounds !== undefined) trackTarget(world.ecs, { service: identity.name, inUse, ...bounds });
    const looks: LookResult[] = [];
    for (let round = 0; round < HOURS * 6; round++) {
      for (let job = 0; job < 3; job++) submit(lab, { pool: 'cpu' }, 2);
      looks.push(...(await lab.run(600, lab.ports(), 20)));
    }
    const whileContested = looks
      .filter(({ plan }) => isContested(plan.findings))
      .flatMap(({ outcome }) => outcome.applied.filter((action) => action.kind === 'set-desired'));
    const { killed } = world.figures();
    const isDone = world.coderd.jobs().every(({ status }) => status === 'succeeded');
    return { launched: world.ecs.counts().launched, killed, isDone, whileContested };
  }

  let without: ReturnType<typeof work> | undefined;

  it.each([
    { name: 'a range of 2 to 10 tasks', bounds: { min: 2, max: 10 } },
    { name: 'at least 6 tasks', bounds: { min: 6, max: 10 } },
  ])('costs few launches once the autoscaler stops fighting $name', async ({ bounds }) => {
    without ??= work(undefined);
    const alone = await without;
    const both = await work(bounds);
    expect(both).toMatchObject({ isDone: true, killed: 0 });
    expect(both.launched).toBeLessThan(1.2 * alone.launched);
    expect(both.whileContested.filter(({ from, to }) => to < from)).toEqual([]);
  });
});

describe('two deployments in one cluster', () => {
  it('size the services of their own stacks although their pools share a name', async () => {
    const lab = await startLongLab({ pools: [pool('cpu'), pool('theirs')] });
    const theirs = lab.world.service('theirs');
    theirs.setTags({ ...theirs.state.tags, [POOL_TAG]: 'cpu', [STACK_TAG]: 'Other' });
    submit(lab, { pool: 'cpu' }, 30);
    const { plan } = await cleanLook(lab.ports(), shortened(lab));
    expect(plan.findings).toEqual([]);
    expect([desired(lab, 'cpu'), desired(lab, 'theirs')]).toEqual([1, 0]);
  });
});
