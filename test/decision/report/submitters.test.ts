/** Who fills a pool: named where it is at its maximum, and "cancel" comes before "raise". */
import { describe, expect, it } from 'vitest';
import { findingLines } from '../../../lambda/explain/finding-text.ts';
import { type Change, organizationIn, planOf } from '../../support/planned.ts';

/** Jobs that have waited for ten minutes, by account. */
const jobs =
  (byAccount: Readonly<Record<string, number>>): Change =>
  (snapshot) => {
    const organization = organizationIn(snapshot);
    const created_at = new Date(Date.parse(snapshot.takenAt) - 600_000).toISOString();
    organization.jobs.items.push(
      ...Object.entries(byAccount).flatMap(([initiator_id, count]) =>
        Array.from({ length: count }, (_, index) => ({
          ...{ id: `${initiator_id}-${index}`, created_at, status: 'pending', initiator_id, tags: {} },
          ...{
            organization_id: organization.id,
            type: 'workspace_build',
            metadata: { template_name: 'linux' },
          },
        })),
      ),
    );
  };

const linesOf = (world: string, change: Change): string =>
  findingLines(planOf(world, change).findings).join('\n');

describe('jobs that wait for a pool at its maximum', () => {
  it('name the accounts and the templates', () => {
    const lines = linesOf('cpu B B, max 2', jobs({ ada: 3, ben: 4 }));
    expect(lines).toContain(
      'They wait for pool "cpu". The pool is at its maximum. The jobs are from ben (4), ada (3); templates: linux (7)',
    );
    expect(lines).not.toContain('Cancel');
  });

  it.each([
    { given: { ada: 5, ben: 5 }, fills: true, because: 'five are half of them' },
    { given: { ada: 5, ben: 6 }, fills: true, because: 'another one has most of them' },
    { given: { ada: 4, ben: 1 }, fills: false, because: 'four are few' },
    { given: { ada: 5, ben: 3, cat: 3 }, fills: false, because: 'less than half of them' },
  ])('say to cancel first ($fills) with $given: $because', ({ given, fills }) => {
    const lines = linesOf('cpu B B, max 2', jobs(given));
    expect(/Cancel the jobs of (ada|ben) that nobody needs, before you raise a limit/.test(lines)).toBe(
      fills,
    );
  });

  it('say so before the larger maximum', () => {
    const lines = linesOf('cpu B B, max 2', jobs({ ada: 90 }));
    expect(lines).toMatch(/coderd will fail .* Cancel the jobs of ada .*(`max: \d+`|too late)/);
  });
});

it('names nobody where the pool has room', () => {
  expect(linesOf('cpu B B, max 90', jobs({ ada: 9 }))).not.toContain('ada');
});

it('names nobody where half of the tasks take no job, as with a wrong key: more of them would not either', () => {
  const lines = linesOf('cpu I2m I2m, max 2, daemons [gpu]', jobs({ ada: 9 }));
  expect(lines).toContain('daemons with other tags');
  expect(lines).not.toMatch(/at its maximum|Cancel/);
});
