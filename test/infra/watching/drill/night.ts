/** A night on call: the schedule invokes the function each minute, and CloudWatch evaluates the alarms. */
import type { SubmittedJob } from '../../../../lab/world/coderd/model.ts';
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { tagsOfOverride } from '../../../../lambda/decision/settings/overrides.ts';
import { findingLines } from '../../../../lambda/explain/finding-text.ts';
import { InvocationError } from '../../../../lambda/look/invocation.ts';
import type { LookResult } from '../../../../lambda/look/look.ts';
import { lookEvent } from '../../../../lambda/look/look-event.ts';
import { FullViewAge } from '../../../../lambda/telemetry/full-view-age.ts';
import { lookMetrics, rareMetrics } from '../../../../lambda/telemetry/look-metrics.ts';
import { invokeOnce, type LabOptions, type LabPool, startLongLab } from '../../../support/lab.ts';
import { withoutCoderd } from '../../../support/without-coderd.ts';
import { CloudWatch } from './cloudwatch.ts';
import { withoutOrganization } from './nights/closed-routes.ts';

export const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 4 };

export type Night = Awaited<ReturnType<typeof aNight>>;

/** A night in which the schedule invokes the function each minute. */
export async function aNight(options: LabOptions = { pools: [cpu] }) {
  const on = await startLongLab(options);
  const { world, config } = on;
  const { timeline, ecs } = world;
  const cloudWatch = new CloudWatch();
  const age = new FullViewAge({ now: () => timeline.now(), sleep: async () => {} });
  let isDown = false;
  let deleted: string | undefined;
  let last: LookResult | undefined;
  const publish = (result: LookResult): void => {
    last = result;
    const event = lookEvent({ result, calls: {}, durationMs: 0 });
    cloudWatch.put(lookMetrics(result, event, age.after(result.plan)));
    cloudWatch.put(rareMetrics(result.plan));
  };
  const invoke = async (): Promise<void> => {
    const given = deleted === undefined ? on.ports() : withoutOrganization(on.ports(), deleted);
    const ports = isDown ? withoutCoderd(given) : given;
    try {
      await invokeOnce({ world, config, ports, onLook: publish });
      cloudWatch.put({ Errors: 0 });
    } catch (error) {
      if (!(error instanceof InvocationError)) throw error;
      cloudWatch.put({ Errors: 1 });
    }
  };
  return {
    world,
    ports: on.ports,
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
      for (let minute = 0; minute < minutes; minute++) {
        const nextAt = plusMs(timeline.now(), MINUTE_MS);
        await invoke();
        timeline.advanceTo(nextAt);
        cloudWatch.endMinute();
      }
      return cloudWatch.alarms();
    },
    /** What the last look says. */
    sentences: () => findingLines(last?.plan.findings ?? []),
    /** How many mails the alarms have sent: each when it went off, and when it was over. */
    notifications: () => notificationsOf(cloudWatch.alarms()),
  };
}

function notificationsOf(alarms: ReturnType<CloudWatch['alarms']>): number {
  return Object.values(alarms)
    .flat()
    .reduce((mails, [, until]) => mails + (until === undefined ? 1 : 2), 0);
}
