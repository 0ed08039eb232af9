import { expect, it } from 'vitest';
import { brief, shown } from '../../cli/shared/brief.ts';

const LONG = 'ECS cannot pull the image. Check its name. The registry answered 404 and then 503 again.';

it.each([
  { text: LONG, most: 16, expected: LONG, because: 'it is short enough' },
  { text: LONG, most: 12, expected: 'ECS cannot pull the image. Check its name …', because: 'two fit' },
  { text: LONG, most: 4, expected: 'ECS cannot pull the image …', because: 'one is always shown' },
  { text: 'ECS cannot pull the image', most: 4, expected: 'ECS cannot pull the image', because: 'it is one' },
  {
    text: 'ECS found no room (Try again. Or wait). It tries again in an hour.',
    ...{ most: 9, expected: 'ECS found no room (Try again. Or wait) …' },
    because: 'a sentence in parentheses is part of another',
  },
])('a line of at most $most words has these sentences, because $because: $expected', (line) => {
  expect(brief(line.text, line.most)).toBe(line.expected);
});

it('says how to see the rest only if something was cut', () => {
  const text = (most: number, isWhole: boolean) => shown((wording) => wording(LONG, most), isWhole);
  expect([text(16, false), text(4, true)]).toEqual([LONG, LONG]);
  expect(text(4, false)).toBe('ECS cannot pull the image …\n…: --explain prints these sentences whole');
});
