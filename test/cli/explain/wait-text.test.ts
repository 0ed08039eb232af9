import { describe, expect, it } from 'vitest';
import {
  namedShares,
  percentText,
  waitPartAdvice,
  waitPartName,
  waitShares,
} from '../../../cli/explain/wait-text.ts';
import { WAIT_PARTS } from '../../../lambda/look/waits/wait-parts.ts';

describe('the words for a part', () => {
  it.each(WAIT_PARTS)('are a noun phrase of its own and one sentence of advice for %s', (part) => {
    expect(waitPartName(part)).toMatch(/^[a-z][a-z ]+$/);
    expect(WAIT_PARTS.filter((other) => waitPartName(other) === waitPartName(part))).toEqual([part]);
    expect(waitPartAdvice(part)).toMatch(/^[A-Z].*[^.]$/);
    expect(waitPartAdvice(part)).not.toMatch(/\. /);
  });
});

describe('waitShares', () => {
  it('lists the parts from the longest to the shortest', () => {
    expect(waitShares({ notNoticed: 10, imagePull: 70, queued: 20 })).toEqual([
      { part: 'imagePull', ms: 70, share: 0.7 },
      { part: 'queued', ms: 20, share: 0.2 },
      { part: 'notNoticed', ms: 10, share: 0.1 },
    ]);
  });

  it('lists equal parts in order of time', () => {
    expect(waitShares({ queued: 5, held: 5 }).map(({ part }) => part)).toEqual(['held', 'queued']);
  });

  it('is empty if no job waited', () => {
    expect(waitShares({})).toEqual([]);
  });
});

describe('namedShares', () => {
  it.each([
    {
      scenario: 'names up to five parts',
      parts: { held: 1, launching: 2, imagePull: 3, registration: 4, queued: 10 },
      expected: [
        'queued in coderd 50%',
        'lease and registration 20%',
        'image pull 15%',
        'launch requested 10%',
        'held back by a limit or for another daemon 5%',
      ],
    },
    {
      scenario: 'names the longest four of six parts and adds the others up',
      parts: { held: 1, launching: 2, provisioning: 10, imagePull: 40, registration: 20, queued: 27 },
      expected: [
        'image pull 40%',
        'queued in coderd 27%',
        'lease and registration 20%',
        'network and placement 10%',
        'other parts 3%',
      ],
    },
    { scenario: 'names nothing without a wait', parts: {}, expected: [] },
  ])('$scenario', ({ parts, expected }) => {
    expect(namedShares(parts).map(({ name, share }) => `${name} ${percentText(share)}`)).toEqual(expected);
  });
});

it.each([
  [0, '0%'],
  [0.001, '<1%'],
  [0.005, '1%'],
  [0.484, '48%'],
  [0.998, '>99%'],
  [1, '100%'],
])('writes a share of %d as %s', (share, text) => {
  expect(percentText(share)).toBe(text);
});
