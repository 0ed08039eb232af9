/** A night for the story of one alarm. Nobody starts a workspace but the test. */
import type { SubmittedJob } from '../../../../lab/world/coderd/model.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { tagsOfOverride } from '../../../../lambda/decision/settings/overrides.ts';
import { findingLines } from '../../../../lambda/explain/finding-text.ts';
import { type LabOptions, startLongLab } from '../../../support/lab.ts';
import { withoutCoderd } from '../../../support/without-coderd.ts';
import { mailsOf } from './cloudwatch.ts';
import { withoutOrganization } from './nights/closed-routes.ts';
import { CPU, Night as PlayedNight } from './nights/night.ts';

export const cpu = CPU;

export type Night = Awaited<ReturnType<typeof aNight>>;

export async function aNight(options: LabOptions = { pools: [cpu] }) {
  const night = new PlayedNight(await startLongLab(options));
  night.people = false;
  const { world, lab, cloudWatch } = night;
  const { timeline, ecs } = world;
  let isDown = false;
  let deleted: string | undefined;
  night.route = (ports) => {
    const given = deleted === undefined ? ports : withoutOrganization(ports, deleted);
    return isDown ? withoutCoderd(given) : given;
  };
  return {
    world,
    ports: lab.ports,
    submit: (jobs: number, minutes = 1, job: Partial<SubmittedJob> = {}) =>
      Array.from({ length: jobs }, () =>
        world.coderd.submitJob({
          organization: 'default',
          tags: {},
          durationMs: minutes * MINUTE_MS,
          ...job,
        }),
      ),
    failPlacement: (reason?: string) => ecs.failPlacement(world.service('cpu').identity.name, reason),
    failStarts: (reason?: string) => ecs.failStarts(world.service('cpu').identity.name, reason),
    pause: (paused: boolean) => {
      const service = world.service('cpu');
      const until = new Date(timeline.now() + 2 * HOUR_MS).toISOString();
      const pause = { kind: 'pause', until, by: 'ada', why: 'driver update' } as const;
      const set = tagsOfOverride(pause);
      const others = Object.entries(service.state.tags).filter(([key]) => !Object.hasOwn(set, key));
      service.setTags({ ...Object.fromEntries(others), ...(paused && set) });
    },
    takeDown: (down: boolean) => {
      isDown = down;
    },
    deleteOrganization: (name: string) => {
      deleted = name;
    },
    pass: async (minutes: number) => {
      await night.pass(minutes);
      return cloudWatch.alarms();
    },
    /** What the last look says. */
    sentences: () => findingLines(night.last?.plan.findings ?? []),
    /** How many mails the alarms have sent. */
    notifications: () => mailsOf(cloudWatch.rung(0)),
  };
}
