/** Nights on call: what the alarms say, by minute, while something is wrong in the simulated world. */
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { InvocationError } from '../../../../lambda/look/invocation.ts';
import type { LookResult } from '../../../../lambda/look/look.ts';
import { lookEvent } from '../../../../lambda/look/look-event.ts';
import type { Ports } from '../../../../lambda/look/ports.ts';
import { FullViewAge } from '../../../../lambda/telemetry/full-view-age.ts';
import { lookMetrics, rareMetrics } from '../../../../lambda/telemetry/look-metrics.ts';
import { invokeOnce, type LabOptions, type LabPool, startLongLab } from '../../../support/lab.ts';
import { withoutCoderd } from '../../../support/without-coderd.ts';
import { CloudWatch } from './cloudwatch.ts';

const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 4 };

/** A night in which the schedule invokes the function each minute. */
async function aNight(options: LabOptions = { pools: [cpu] }) {
  const on = await startLongLab(options);
  const { world, config } = on;
  const { timeline, ecs } = world;
  const cloudWatch = new CloudWatch();
  const age = new FullViewAge({ now: () => timeline.now(), sleep: async () => {} });
  let isDown = false;
  let deleted: string | undefined;
  const publish = (result: LookResult): void => {
    const event = lookEvent({ result, calls: {}, durationMs: 0 });
    cloudWatch.put(lookMetrics(result, event, age.after(result.plan)));
    cloudWatch.put(rareMetrics(result.plan));
  };
  const invoke = async (): Promise<void> => {
    const given = withoutOrganization(on.ports(), deleted);
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
    submit: (jobs: number, minutes = 1) => {
      for (let job = 0; job < jobs; job++)
        world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: minutes * MINUTE_MS });
    },
    failStarts: (reason?: string) => ecs.failStarts(world.service('cpu').identity.name, reason),
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
  };
}

function withoutOrganization({ coderd, ...ports }: Ports, deleted: string | undefined): Ports {
  const organizations: Ports['coderd']['organizations'] = async () => {
    const known = await coderd.organizations();
    return { ...known, items: known.items.filter(({ name }) => name !== deleted) };
  };
  // its methods are those of a class with private fields
  const own: Ports['coderd'] = {
    organizations,
    buildInfo: () => coderd.buildInfo(),
    jobs: (...of) => coderd.jobs(...of),
    daemons: (...of) => coderd.daemons(...of),
    jobsByIds: (...of) => coderd.jobsByIds(...of),
    forecast: (...of) => coderd.forecast(...of),
    recentJobs: (...of) => coderd.recentJobs(...of),
    knowsEnd: (...of) => coderd.knowsEnd(...of),
    tokenExpiry: (...of) => coderd.tokenExpiry(...of),
    license: (...of) => coderd.license(...of),
  };
  return { ...ports, coderd: own };
}

const IMAGE = 'CannotPullContainerError: pull image manifest has been retried 7 time(s)';

describe('a quiet night, and one with builds', () => {
  it('rings nothing', async () => {
    const night = await aNight();
    expect(await night.pass(20)).toEqual({});
    night.submit(6, 3);
    expect(await night.pass(40)).toEqual({});
  });
});

describe('coderd that goes down while jobs wait', () => {
  it('keeps the alarm for jobs that wait, and rings that no look can judge', async () => {
    const night = await aNight();
    night.failStarts(IMAGE);
    night.submit(6);
    expect(await night.pass(9)).toHaveProperty('job-waits');
    night.takeDown(true);
    const alarms = await night.pass(15);
    expect(alarms['job-waits']).toEqual([[expect.any(Number), undefined]]);
    const [[from] = [0]] = alarms['no-tick'] ?? [];
    // in the minutes after it went down
    expect(from).toBeGreaterThan(9);
    expect(from).toBeLessThanOrEqual(9 + 6);
    night.takeDown(false);
    expect((await night.pass(5))['no-tick']?.[0]?.[1]).toBeLessThanOrEqual(9 + 15 + 4);
  });
});

describe('an organization that coderd no longer lists', () => {
  it('does not hide the outage of coderd after it', async () => {
    const night = await aNight({ pools: [cpu, { ...cpu, name: 'gone', organization: 'gone' }] });
    night.deleteOrganization('gone');
    const before = await night.pass(10);
    expect(Object.keys(before).sort()).toEqual(['failing-ticks', 'sight-lost']);
    night.takeDown(true);
    const alarms = await night.pass(10);
    expect(alarms['no-tick']?.[0]?.[0]).toBeLessThanOrEqual(10 + 6);
    expect(alarms['failing-ticks']).toEqual(before['failing-ticks']);
  });
});

describe('a wrong image with more jobs than the maximum', () => {
  it('rings for failing starts, and not for the maximum', async () => {
    const night = await aNight();
    night.failStarts(IMAGE);
    night.submit(12);
    const alarms = await night.pass(25);
    expect(alarms).toHaveProperty('starts-failing');
    expect(alarms).not.toHaveProperty('pool-at-max');
  });

  it('does not silence the maximum where starts work', async () => {
    const night = await aNight();
    night.submit(40, 5);
    expect(await night.pass(20)).toHaveProperty('pool-at-max');
  });
});
