/** The snapshot of `examples/plan/`: Monday 9:00 after two hours of looks. The last jobs are new to it. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import type { Tags } from '../../lambda/decision/model/tags.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import { observe } from '../../lambda/look/observe.ts';
import { Random } from '../world/base/random.ts';
import { VirtualScheduler } from '../world/base/virtual-scheduler.ts';
import type { TemplateRecord } from '../world/coderd/tables/templates.ts';
import { InProcessFunction, type Invoked } from '../world/in-process/function.ts';
import { inProcessPorts } from '../world/in-process/ports.ts';
import { World } from '../world/world.ts';

const START = Date.parse('2026-03-02T07:00:00Z') as EpochMs;
const END = Date.parse('2026-03-02T09:00:06Z') as EpochMs;
const SEED = 11;

class ExampleError extends Error {
  override readonly name = 'ExampleError';
}

type Builds = {
  readonly template: string;
  readonly organization: string;
  readonly tags: Tags;
  /** Seconds before the snapshot. */
  readonly agoS: number;
  /** People who start a workspace. 0: a new version of the template, for a job without a workspace. */
  readonly people: number;
  readonly seconds: number;
};

const DOCKER = { template: 'docker', organization: 'default', tags: {} };
const NOTEBOOK = { template: 'notebook', organization: 'default', tags: { cluster: 'gpu' } };
const SIMULATION = { template: 'simulation', organization: 'default', tags: { cluster: 'tpu' } };
const SPARK = { template: 'spark', organization: 'data', tags: { team: 'data' } };
const BUILDS: readonly Builds[] = [
  // often enough that a free daemon is worth its price
  ...Array.from({ length: 70 }, (_, at) => ({ ...DOCKER, agoS: 7180 - at * 100, people: 0, seconds: 45 })),
  { ...DOCKER, agoS: 45, people: 3, seconds: 120 },
  { ...DOCKER, agoS: 1, people: 3, seconds: 60 },
  { ...NOTEBOOK, agoS: 200, people: 3, seconds: 400 },
  { ...SIMULATION, agoS: 185, people: 2, seconds: 60 },
  { ...SPARK, agoS: 219, people: 2, seconds: 45 },
];

/** Runs the deployment and looks at it. The same configuration gives the same snapshot. */
export async function exampleSnapshot(config: Config): Promise<Snapshot> {
  const pools = config.pools.map(({ name, organization, tags, image, cpu, memory }) => ({
    name,
    organization,
    tags,
    desiredCount: 0,
    template: { image, cpu, memory },
  }));
  const world = new World({ start: START, seed: SEED, pools });
  planBuilds(world);
  const scheduler = new VirtualScheduler(world.timeline);
  let stock: Snapshot['stock'];
  const onLook = ({ snapshot }: LookResult): void => {
    stock = snapshot.stock;
  };
  const onInvoked = ({ error }: Invoked): void => {
    if (error !== undefined) fail(error);
  };
  const random = new Random(SEED);
  void new InProcessFunction({ world, scheduler, config: () => config, random, onLook, onInvoked }).run();
  await scheduler.advanceTo(END);
  const ports = inProcessPorts(world, { scheduler });
  // no secret changes in the example, so it does without their metadata
  return { ...(await observe({ ...ports(), secrets: undefined }, config)), stock };
}

function planBuilds(world: World): void {
  for (const [template, builds] of Map.groupBy(BUILDS, (each) => each.template)) {
    const [{ organization, tags } = DOCKER] = builds;
    const record = world.coderd.addTemplate({ name: template, organization, tags });
    for (const build of builds) planBuild(world, record, build);
  }
  const template = world.coderd.addTemplate({ ...DOCKER, name: 'web', tags: { team: 'web' } });
  for (const name of ['web-1', 'web-2', 'web-3'])
    world.coderd.workspaces.add({ template, name, schedule: 'CRON_TZ=UTC 1 9 * * *' });
}

function planBuild({ coderd, timeline }: World, template: TemplateRecord, build: Builds): void {
  const { organization, tags, agoS, people, seconds } = build;
  const durationMs = seconds * 1000;
  timeline.after(END - START - agoS * 1000, () => {
    if (people === 0) coderd.submitJob({ organization, tags, type: 'template_version_import', durationMs });
    for (let person = 1; person <= people; person++) {
      const name = `${template.name}-${agoS}-${person}`;
      coderd.build(coderd.workspaces.add({ template, name }), 'start', { durationMs });
    }
  });
}

function fail(cause: unknown): never {
  throw new ExampleError('running the example: an invocation failed', { cause });
}
