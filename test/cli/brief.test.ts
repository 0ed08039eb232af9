import { expect, it } from 'vitest';
import { brief, shown } from '../../cli/shared/brief.ts';
import type { PoolName, TaskArn } from '../../lambda/decision/model/brands.ts';
import type { Finding } from '../../lambda/decision/model/plan.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { MOST_WORDS } from '../../lambda/explain/text.ts';

const LONG = 'ECS cannot pull the image. Check its name. The registry answered 404 and then 503 again.';

const NO_ADVICE = 'ECS cannot pull the image. The registry answered 404 and then 503 again.';

it.each([
  { text: LONG, most: 16, expected: LONG, because: 'it is short enough' },
  { text: LONG, most: 12, expected: 'ECS cannot pull the image. Check its name …', because: 'two fit' },
  { text: LONG, most: 4, expected: 'ECS cannot pull the image. Check its name …', because: 'advice stays' },
  { text: NO_ADVICE, most: 4, expected: 'ECS cannot pull the image …', because: 'one is always shown' },
  {
    text: `${NO_ADVICE} Check its name. It tries again.`,
    ...{ most: 9, expected: 'ECS cannot pull the image … Check its name …' },
    because: 'advice stays where it stands, and each gap has its mark',
  },
  { text: 'ECS cannot pull the image', most: 4, expected: 'ECS cannot pull the image', because: 'it is one' },
  {
    text: 'ECS found no room (Try again. Or wait). It tries again in an hour.',
    ...{ most: 9, expected: 'ECS found no room (Try again. Or wait) …' },
    because: 'a sentence in parentheses is part of another',
  },
])('a line of at most $most words has these sentences, because $because: $expected', (line) => {
  expect(brief(line.text, line.most)).toBe(line.expected);
});

const DAEMONS = { organization: 'default', cluster: 'coder', task: 'arn:task' as TaskArn };
it.each([
  {
    of: 'refused daemons is their log, not a new key',
    text: sentenceOf({ code: 'daemons-empty-while-leased', ...DAEMONS, tasks: 10 }),
    keeps: 'Read the log of a task: it says why coderd refuses its daemon',
    cuts: 'give the pool a new one',
  },
  {
    of: 'a contested count is who changes it',
    text: sentenceOf({ code: 'count-contested', pool: 'cpu' as PoolName, changes: 4 }),
    keeps: 'Find out who: `aws cloudtrail lookup-events',
    cuts: 'The autoscaler resumes',
  },
  {
    of: 'a changed pre-shared key has a condition',
    text: sentenceOf({
      ...{
        code: 'psk-changed',
        pool: 'cpu' as PoolName,
        secret: 'coder/psk',
        changedAt: '2026-11-20T09:00:00Z',
      },
    } as Finding),
    keeps: 'If coderd has another key, set it there too',
    cuts: 'The pool replaces its older tasks',
  },
  {
    of: 'refused workspaces says where to look',
    text: sentenceOf({
      ...{ code: 'transitions-refused', ...DAEMONS, tags: {}, kind: 'autostart', transitions: 1 },
      ...{ at: '2026-11-20T09:00:00Z', workspaces: ['ada/dev'], ownersUnknown: 1, nextTryAt: null },
    }),
    keeps: 'Look for "failed to transition workspace" in coderd\'s log',
    cuts: 'The autoscaler starts no pool for it',
  },
])('the short form of a finding keeps its advice: that of $of', ({ text, keeps, cuts }) => {
  const short = brief(text, MOST_WORDS.line);
  expect(text).toContain(cuts);
  expect(short).toContain(keeps);
  expect(short).not.toContain(cuts);
});

it('says how to see the rest only if something was cut', () => {
  const text = (most: number, isWhole: boolean) => shown((wording) => wording(LONG, most), isWhole);
  expect([text(16, false), text(4, true)]).toEqual([LONG, LONG]);
  expect(text(4, false)).toBe(
    'ECS cannot pull the image. Check its name …\n…: --explain prints these sentences whole',
  );
});
