/**
 * Generators of ugly records of recent jobs: batches, duplicates, times in the future, builds that
 * end before they start.
 */
import fc from 'fast-check';
import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type { Job, Reading, ReadingStatus } from '../../../lambda/decision/model/snapshot.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { DAY_MS as DAY } from '../../../lambda/decision/model/units.ts';
import { aJob, HOUR, jobId, MINUTE, NOW } from '../parts.ts';

const rows = fc.array(
  fc.record({
    tags: fc.constantFrom<Tags>({}, { a: '1' }, { a: '1' }, { a: '1', b: '1' }, { z: '9' }, { '': '' }),
    firstMsAgo: fc.constantFrom(-DAY, -MINUTE, 0, 1, MINUTE, 10 * MINUTE, HOUR, DAY, 6 * DAY, 400 * DAY),
    everyMs: fc.constantFrom(0, 1000, MINUTE, 10 * MINUTE, HOUR, DAY),
    count: fc.constantFrom(1, 2, 10, 60),
    tookMs: fc.constantFrom(undefined, -HOUR, 0, 30_000, 2 * MINUTE, 9 * HOUR),
    status: fc.constantFrom('succeeded', 'succeeded', 'succeeded', 'failed', 'running', 'pending', ''),
    reason: fc.constantFrom(undefined, undefined, 'initiator', 'autostart', 'autostop', 'new', null),
    isPrebuild: fc.constantFrom(false, false, false, true),
    type: fc.constantFrom('workspace_build', 'workspace_build', 'template_version_import', ''),
    metadata: fc.constantFrom(
      null,
      undefined,
      {},
      { workspace_id: 'w-org-default-0-0', template_id: 't1', workspace_build_transition: 'start' },
      { workspace_id: 'gone', template_id: null },
    ),
    isSameId: fc.constantFrom(false, false, true),
  }),
  { maxLength: 5 },
);

type Row = typeof rows extends fc.Arbitrary<(infer T)[]> ? T : never;

/** The recent jobs of an organization. Undefined: no record. */
export function uglyRecord(organization: string): fc.Arbitrary<Reading<Job> | undefined> {
  return fc.option(
    fc
      .record({
        rows,
        status: fc.constantFrom<ReadingStatus>('ok', 'ok', 'ok', 'truncated', 'stale', 'failed', 'forbidden'),
      })
      .map((given) => ({
        status: given.status,
        items: given.rows.flatMap((row, index) => drawRow(row, `r-${organization}-${index}`, organization)),
      })),
    { nil: undefined, freq: 5 },
  );
}

function drawRow(row: Row, id: string, organization: string): readonly Job[] {
  return Array.from({ length: row.count }, (_, index) => {
    const created_at = (NOW - row.firstMsAgo - index * row.everyMs) as EpochMs;
    return aJob({
      id: jobId(row.isSameId ? id : `${id}-${index}`),
      created_at,
      organization_id: `org-${organization}` as OrganizationId,
      tags: row.tags,
      type: row.type,
      status: row.status,
      reason: row.reason,
      metadata: row.metadata,
      ...(row.tookMs === undefined
        ? {}
        : { started_at: created_at, completed_at: (created_at + row.tookMs) as EpochMs }),
      ...(row.isPrebuild ? { initiator_id: 'c42fdf75-3097-471c-8c33-fb52454d81c0' } : {}),
    });
  });
}
