/**
 * Generators of ugly forecasts: times long past, far ahead or missing, and readings that are not
 * complete.
 */
import fc from 'fast-check';
import type { OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { ForecastReadings, ReadingStatus, Workspace } from '../../../lambda/decision/model/snapshot.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { ago, aTemplate, aWorkspace, HOUR, MINUTE } from '../parts.ts';

const TAGS: readonly Tags[] = [{}, { a: '1' }, { a: '1', b: '1' }, { z: '9' }];
const YEAR = 365 * 24 * HOUR;

const times = fc.option(
  fc
    .constantFrom(-YEAR, -12 * MINUTE, -5 * MINUTE, -2 * MINUTE, -MINUTE, 0, MINUTE, 4 * MINUTE, HOUR, YEAR)
    .map(ago),
  { nil: null, freq: 5 },
);

const workspace = fc.record({
  template: fc.integer({ min: 0, max: TAGS.length }),
  transition: fc.constantFrom('start', 'stop', 'delete', ''),
  status: fc.constantFrom('succeeded', 'succeeded', 'succeeded', 'failed', 'running', 'canceled', ''),
  reason: fc.constantFrom('initiator', 'autostart', 'autostop', null, 'new'),
  schedule: fc.constantFrom('CRON_TZ=Europe/Berlin 0 9 * * 1-5', 'CRON_TZ=Nowhere 0 9 * * *', '', null),
  created: times,
  next: times,
  deadline: times,
  max: times,
  used: times,
  dormant: fc.constantFrom(null, null, null, ago(HOUR)),
  deleting: times,
  copies: fc.constantFrom(1, 1, 5),
});

const readings = fc.constantFrom<ReadingStatus>(
  'ok',
  'ok',
  'ok',
  'stale',
  'truncated',
  'forbidden',
  'failed',
);

/** The readings of an organization's workspaces and templates. Empty: no forecast. */
export function uglyForecast(
  organization: string,
  isClear: boolean,
): fc.Arbitrary<ForecastReadings | Record<string, never>> {
  const organization_id = `org-${organization}` as OrganizationId;
  return fc.option(
    fc
      .record({
        rows: fc.array(workspace, { maxLength: 6 }),
        status: isClear ? fc.constant<ReadingStatus>('ok') : readings,
        readMinutesAgo: fc.constantFrom(0, 0, 3, 20),
        dormantAfter: fc.constantFrom(0, HOUR, 3 * MINUTE),
        days: fc.constantFrom(null, [], ['monday'], ['friday']),
      })
      .map(({ rows, status, readMinutesAgo, dormantAfter, days }) => {
        const reading = { status, takenAt: ago(readMinutesAgo * MINUTE) } as const;
        const templates = TAGS.map((_, index) =>
          aTemplate({
            id: `t${index}`,
            organization_id,
            time_til_dormant_ms: dormantAfter,
            time_til_dormant_autodelete_ms: dormantAfter,
            failure_ttl_ms: dormantAfter,
            autostart_requirement: { days_of_week: days },
          }),
        );
        const isGone = status === 'failed' || status === 'forbidden';
        return {
          workspaces: {
            ...reading,
            items: isGone ? [] : rows.flatMap((row, index) => drawRow(row, index, organization_id)),
          },
          templates: { ...reading, items: isGone ? [] : templates },
          activeVersionTags: Object.fromEntries(TAGS.map((tags, index) => [`t${index}`, tags])),
        };
      }),
    { nil: {}, freq: 4 },
  );
}

type Row = typeof workspace extends fc.Arbitrary<infer T> ? T : never;

function drawRow(row: Row, index: number, organization_id: OrganizationId): readonly Workspace[] {
  return Array.from({ length: row.copies }, (_, copy) =>
    aWorkspace({
      id: `w-${organization_id}-${index}-${copy}`,
      organization_id,
      template_id: `t${row.template}`,
      autostart_schedule: row.schedule,
      next_start_at: row.next,
      last_used_at: row.used,
      dormant_at: row.dormant,
      deleting_at: row.deleting,
      latest_build: {
        created_at: row.created,
        transition: row.transition,
        reason: row.reason,
        deadline: row.deadline,
        max_deadline: row.max,
        job: { status: row.status, completed_at: row.created, tags: { a: '1' } },
      },
    }),
  );
}

/** Settings of a pool for forecast and schedules. */
export const forecastSettings: fc.Arbitrary<Pick<PoolConfig, 'wake' | 'schedules'>> = fc
  .record({
    wake: fc.boolean(),
    isScheduled: fc.integer({ min: 0, max: 3 }).map((roll) => roll === 0),
    min: fc.integer({ min: 0, max: 1 }),
  })
  .map(({ wake, isScheduled, min }) => ({
    wake,
    schedules: isScheduled
      ? [
          {
            days: [0, 1, 2, 3, 4, 5, 6] as const,
            fromMinute: 0,
            toMinute: 0,
            timezone: 'Europe/Berlin',
            min,
            warm: 1 - min,
          },
        ]
      : [],
  }));
