/**
 * The text for transitions that coderd refuses: which workspaces, likely causes, and the next try.
 */
import { describe, expect, it } from 'vitest';
import { parseSnapshot } from '../../lambda/adapters/snapshot-schema.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { deliberate } from '../../lambda/decision/decide.ts';
import type { Finding } from '../../lambda/decision/model/plan.ts';
import { explainPool } from '../../lambda/explain/explain.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { draw, type Picture } from '../support/picture.ts';
import { organizationIn } from '../support/planned.ts';

type Refused = Extract<Finding, { readonly code: 'transitions-refused' }>;

/** Workspaces due since 08:10, and a daemon that was there from 08:00 until 08:30; it is 09:00. */
function planOf(
  workspaces: Picture['workspaces'],
  members: readonly object[] = [],
  pools: Picture['pools'] = { cpu: {} },
) {
  const { snapshot: document, config: settings } = draw({
    pools,
    strangers: [{}],
    ...(workspaces && { workspaces }),
  });
  const organization = organizationIn(document);
  Object.assign(organization.daemons.items[0] ?? {}, { last_seen_at: '2026-11-20T08:28:30Z' });
  Object.assign(organization, { members: { status: 'ok', takenAt: document.takenAt, items: members } });
  for (const [index, workspace] of (organization.workspaces?.items ?? []).entries())
    Object.assign(workspace, { name: `dev-${index}`, owner_name: 'ada', owner_id: 'ada-id' });
  const snapshot = parseSnapshot(document);
  const deliberation = deliberate(snapshot, checkConfig(settings).config);
  const { findings, actions } = deliberation.plan;
  const refused = findings.find((finding): finding is Refused => finding.code === 'transitions-refused');
  return { refused, findings, actions, explained: explainPool('cpu', deliberation, snapshot) ?? '' };
}

const STARTS = [{ startsInS: -3000 }];
const STOPS = [{ stopsInS: -3000 }];

describe('the finding transitions-refused', () => {
  it('names ten workspaces with their owners and counts the rest', () => {
    const { refused } = planOf([{ startsInS: -3000, count: 12 }]);
    expect(refused).toMatchObject({ transitions: 12, at: '2026-11-20T08:10:00.000Z', ownersUnknown: 12 });
    expect(refused?.workspaces).toHaveLength(10);
    expect(refused && sentenceOf(refused)).toMatch(/: ada\/dev-\d+, .* and 2 more\. /);
  });

  it('tells you what to do', () => {
    const { refused } = planOf(STARTS);
    expect(refused && sentenceOf(refused)).toMatchInlineSnapshot(
      `"organization "default", tags (untagged): coderd refused 1 autostart at 20 November 2026 08:10:00 UTC although it saw a daemon: ada/dev-0. coderd starts only workspaces of active owners, and does not tell whether 1 owner is suspended or dormant. Look for "failed to transition workspace" in coderd's log (a required parameter may have no value), or clear the schedule of the workspace. The autoscaler next starts a pool for it at 20 November 2026 09:30:00 UTC"`,
    );
  });

  it('does not mention owners that coderd reports as active', () => {
    const { refused } = planOf(STARTS, [{ user_id: 'ada-id', status: 'active' }]);
    expect(refused?.ownersUnknown).toBe(0);
    expect(refused && sentenceOf(refused)).not.toContain('suspended');
  });

  it('does not mention schedules for a refused stop', () => {
    const { refused } = planOf(STOPS);
    expect(refused && sentenceOf(refused)).toMatch(
      /coderd refused 1 autostop at 20 November 2026 08:10:00 UTC .*\(a required parameter may have no value\)\. The /,
    );
    expect(refused && sentenceOf(refused)).not.toMatch(/schedule|suspended/);
  });

  it.each<{ readonly pools: Picture['pools']; readonly because: string }>([
    { pools: { cpu: { tags: { size: 'large' } } }, because: 'no pool has the tags' },
    { pools: { cpu: { wake: { autostart: false } } }, because: 'no pool with the tags wakes for autostarts' },
  ])('promises no start of a pool if $because', ({ pools }) => {
    const { refused } = planOf(STARTS, [], pools);
    expect(refused?.nextTryAt).toBeNull();
    expect(refused && sentenceOf(refused)).toMatch(
      / of the workspace\. The autoscaler starts no pool for it: none that may start has these tags$/,
    );
  });

  it('replaces the finding transitions-late and starts no pool', () => {
    const { findings, actions } = planOf(STARTS);
    expect(findings.map(({ code }) => code)).toEqual(['transitions-refused']);
    expect(actions).toEqual([]);
  });
});

it('shows in the explanation when a pool starts again', () => {
  const line = planOf(STARTS)
    .explained.split('\n')
    .find((text) => text.includes('refused'));
  expect(line?.trim()).toMatchInlineSnapshot(
    `"(untagged): 1 autostart at 20 November 2026 08:10:00 UTC that coderd has refused although it saw a daemon -> no pool starts for it before 20 November 2026 09:30:00 UTC"`,
  );
});
