/**
 * Floors in the time zone of the schedule, and autostarts in that of the workspace, in nights in
 * which clocks change.
 */
import { describe, expect, it } from 'vitest';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { expectNoHarm } from '../../support/builds.ts';
import { type Lab, type LabPool, timeOf } from '../../support/lab.ts';
import { startWatched } from '../../support/watch.ts';

/** Invokes the function until this time. */
async function invokeUntil({ world, invoke }: Lab, until: EpochMs): Promise<void> {
  await invoke(Math.ceil((until - world.timeline.now()) / MINUTE_MS));
}

describe('a night in which the clocks change', () => {
  const pool: LabPool = {
    name: 'cpu',
    organization: 'default',
    tags: {},
    desiredCount: 0,
    idleTimeout: '60s',
    schedules: [
      { days: 'sat', from: '23:30', to: '02:30', timezone: 'Europe/Berlin', min: 1 },
      { days: 'sun', from: '04:00', to: '06:00', timezone: 'Europe/Berlin', min: 2 },
    ],
  };

  /**
   * The expected times in Berlin. Each has its UTC offset, because some local times occur twice.
   */
  type Night = {
    readonly night: string;
    readonly from: string;
    readonly running: Readonly<Record<string, number>>;
    readonly autostarts: readonly string[];
  };

  it.each<Night>([
    {
      night: 'forward, from 2 to 3 in the morning',
      from: '2026-03-28T23:00:00+01:00',
      running: {
        '2026-03-28T23:25:00+01:00': 0,
        '2026-03-28T23:35:00+01:00': 1,
        '2026-03-29T01:55:00+01:00': 1,
        // 2:30 does not exist, so the schedule ends with the gap
        '2026-03-29T03:10:00+02:00': 0,
        '2026-03-29T03:55:00+02:00': 0,
        '2026-03-29T04:10:00+02:00': 2,
        '2026-03-29T05:55:00+02:00': 2,
        '2026-03-29T06:10:00+02:00': 0,
      },
      // 2:30 does not exist in this night
      autostarts: ['2026-03-29T03:30:00+02:00', '2026-03-29T06:30:00+02:00'],
    },
    {
      night: 'back, from 3 to 2 in the morning',
      from: '2026-10-24T23:00:00+02:00',
      running: {
        '2026-10-24T23:25:00+02:00': 0,
        '2026-10-24T23:35:00+02:00': 1,
        '2026-10-25T02:40:00+02:00': 1,
        // 2:30 occurs twice, so the schedule ends at the later one
        '2026-10-25T02:25:00+01:00': 1,
        '2026-10-25T02:40:00+01:00': 0,
        '2026-10-25T03:55:00+01:00': 0,
        '2026-10-25T04:10:00+01:00': 2,
        '2026-10-25T06:10:00+01:00': 0,
      },
      autostarts: ['2026-10-25T02:30:00+02:00', '2026-10-25T03:30:00+01:00', '2026-10-25T06:30:00+01:00'],
    },
  ])('starts and stops workspaces on time: $night', async ({ from, running, autostarts }) => {
    const night = await startWatched({ start: timeOf(from), pools: [pool] });
    const { coderd } = night.world;
    const template = coderd.addTemplate({ organization: 'default' });
    for (const cron of ['30 2', '30 3', '30 6'])
      coderd.workspaces.add({ template, schedule: `CRON_TZ=Europe/Berlin ${cron} * * *` });
    await invokeUntil(night, plusMs(timeOf(autostarts.at(-1) ?? from), 10 * MINUTE_MS));
    const seen = Object.keys(running).map((time) => [
      time,
      night.watched.mostRunning(timeOf(time), timeOf(time)),
    ]);
    expect(Object.fromEntries(seen)).toEqual(running);
    expect(night.watched.left).toEqual([]);
    expect(coderd.jobs().map(({ createdAt }) => createdAt)).toEqual(autostarts.map(timeOf));
    expectNoHarm(night);
  });
});

describe('schedules', () => {
  it('give the highest active floor, and none on an exception', async () => {
    const afternoon = { timezone: 'Europe/Berlin', except: ['2026-03-03'] };
    const pool: LabPool = {
      name: 'cpu',
      organization: 'default',
      tags: {},
      desiredCount: 0,
      idleTimeout: '60s',
      schedules: [
        { ...afternoon, days: 'mon-fri', from: '22:00', to: '24:00', min: 2 },
        { ...afternoon, days: 'mon-fri', from: '22:30', to: '23:30', warm: 3 },
        { ...afternoon, days: 'mon', from: '23:00', to: '00:30', min: 1 },
        { ...afternoon, days: 'mon-fri', from: '00:45', to: '01:15', min: 4 },
      ],
    };
    const evening = await startWatched({ start: timeOf('2026-03-02T21:45:00+01:00'), pools: [pool] });
    await invokeUntil(evening, timeOf('2026-03-03T01:30:00+01:00'));
    const running = (time: string): number => evening.watched.mostRunning(timeOf(time), timeOf(time));
    expect({
      'before all': running('2026-03-02T21:55:00+01:00'),
      'min 2': running('2026-03-02T22:10:00+01:00'),
      'min 2 and warm 3, nothing being busy': running('2026-03-02T22:40:00+01:00'),
      'min 2 and 1': running('2026-03-02T23:45:00+01:00'),
      'min 1, which goes on after midnight although the new day is an exception':
        running('2026-03-03T00:15:00+01:00'),
      'the exception': running('2026-03-03T01:00:00+01:00'),
    }).toEqual({
      'before all': 0,
      'min 2': 2,
      'min 2 and warm 3, nothing being busy': 3,
      'min 2 and 1': 2,
      'min 1, which goes on after midnight although the new day is an exception': 1,
      'the exception': 0,
    });
    expectNoHarm(evening);
  });
});
