/**
 * Names, tags and errors are data of others. Whatever is in them, they stay in their line, and a
 * terminal or GitHub Actions has nothing to obey.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { explainPool } from '../../cli/explain/explain-pool.ts';
import { statusOf } from '../../cli/status/report.ts';
import { statusScreen } from '../../cli/status/screen.ts';
import { deliberate } from '../../lambda/decision/decide.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { withPromises } from '../../lambda/decision/promise/promise.ts';
import { planText } from '../../lambda/explain/text.ts';
import { InvocationError } from '../../lambda/look/invocation.ts';
import {
  aConfig,
  ago,
  aJob,
  anOrganization,
  aPool,
  aService,
  aSnapshot,
  aTemplate,
  aWorkspace,
  HOUR,
  NOW,
  reading,
} from '../support/parts.ts';
import { runs } from '../support/runs.ts';

/** The same world with this text in each of its names, tags and errors. */
function worldWith(text: string): { readonly snapshot: Snapshot; readonly config: Config } {
  const name = `${text}.`;
  const failed = { status: 'failed', error: name, items: [] } as const;
  const tags = { [name]: name };
  const override = { pin: '1', 'pin-until': '2026-11-20T10:00:00Z', 'pin-by': name, 'pin-why': name };
  const pool = aPool({ organization: name, tags, max: 1 });
  const own = {
    name,
    jobs: reading([aJob({ tags }), aJob({ tags: { ...tags, more: name }, created_at: ago(HOUR) })]),
    daemons: failed,
    workspaces: { ...reading([aWorkspace({ name })]), takenAt: NOW },
    templates: { ...reading([aTemplate({ name })]), takenAt: NOW },
    activeVersionTags: { template: tags },
  };
  const [service] = [aService()];
  const pinned = Object.entries(override).map(([key, value]) => ({ key: `coder-autoscaler:${key}`, value }));
  const base = aSnapshot({
    organizations: [anOrganization(own)],
    services: [{ ...service, tags: [...service.tags, ...pinned] }],
  });
  return { snapshot: { ...base, ecs: { ...base.ecs, tasks: failed } }, config: aConfig(pool) };
}

/** Everything that people read about a plan. */
function textsOf(text: string): readonly string[] {
  const { snapshot, config } = worldWith(text);
  const deliberation = deliberate(snapshot, config);
  const log = { lastLook: { kind: 'unknown', why: text }, waits: { kind: 'unknown', why: text } } as const;
  return [
    planText(withPromises(deliberation, snapshot)),
    explainPool('cpu', deliberation, snapshot) ?? '',
    statusScreen(statusOf(snapshot, deliberation, config, log)),
    new InvocationError([{ message: text }]).message,
  ];
}

const linesOf = (texts: readonly string[]): readonly number[] => texts.map((text) => text.split('\n').length);
const NASTY = [
  '\n',
  '\r\n',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u009b2J',
  '\u001b[2J',
  '\u202e',
  '\u2066',
  '\u0000',
];
const ATTACKS = [...NASTY, '\n::add-mask::ok', '::add-mask::ok', '##[add-mask]ok', '\n  ! no changes'];
/** Newlines between lines are the only ones. */
const OBEYED = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}]|\p{Bidi_Control}|^\s*::|##\[/mu;

it('keeps any text of others in its line, without anything that a terminal obeys', () => {
  const expected = linesOf(textsOf('text'));
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom(...ATTACKS, 'a', ' '), { minLength: 1, maxLength: 6 })
      .map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, (given) => {
      const texts = textsOf(given);
      expect(linesOf(texts)).toEqual(expected);
      for (const shown of texts) expect(shown).not.toMatch(OBEYED);
    }),
    { ...runs(300), examples: ATTACKS.map((attack) => [attack]) },
  );
});

it('shows a control character as JSON writes it', () => {
  const [plan] = textsOf('a\n::add-mask::b');
  expect(plan).toContain('tags a\\u000a::add-mask::b.=a\\u000a::add-mask::b.');
});
