/** The drill: what each cause looks like by alarm, mail, `status` and `doctor`. It writes docs/drill.md. */
import { describe, expect, it } from 'vitest';
import { commandLabs } from '../../../../support/command-lab.ts';
import { AWS } from './causes/aws.ts';
import type { Cause } from './causes/cause.ts';
import { CODERD } from './causes/coderd.ts';
import { STARTS } from './causes/starts.ts';
import { namedBy, pageOf } from './page.ts';
import { type Played, play } from './played.ts';

const { start } = commandLabs();

const GROUPS: readonly (readonly [title: string, causes: readonly Cause[]])[] = [
  ['Coder', CODERD],
  ['Tasks that do not start', STARTS],
  ['AWS, the stack and people', AWS],
];
const played = new Map<Cause, Played>();

describe.each(GROUPS)('%s', (_, causes) => {
  it.each(causes)('$cause', async (cause) => {
    const night = await play(start, cause);
    played.set(cause, night);
    expect(night.builds.lost).toBe(0);
    expect.soft([...new Set(night.rung.map(({ name }) => name))]).toEqual(cause.rings);
    expect.soft(namedBy(night), `${night.whole}\n${night.doctor}`).not.toEqual([]);
  });
});

it('are all in docs/drill.md', async () => {
  const groups = GROUPS.map(
    ([title, causes]) => [title, causes.flatMap((cause) => played.get(cause) ?? [])] as const,
  );
  await expect(pageOf(groups)).toMatchFileSnapshot('../../../../../docs/drill.md');
});
