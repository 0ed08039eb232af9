/** Tests which questions `doctor --deep` sends, and with which releases it compares the answers. */
import { describe, expect, it } from 'vitest';
import { compareWithAll } from '../../../../cli/doctor/answers/answer-differences.ts';
import { readOnlyQuestions } from '../../../../cli/doctor/answers/read-only-steps.ts';
import {
  readTranscript,
  recordedReleases,
  releasesToCompare,
} from '../../../../cli/doctor/answers/recordings.ts';

const questions = readOnlyQuestions(readTranscript(recordedReleases().at(-1) ?? ''));

describe('readOnlyQuestions', () => {
  it('chooses questions that write nothing, and those that coderd refuses', () => {
    const writing = questions.filter(({ method, path }) => method !== 'GET' && path !== '/authcheck');
    expect(writing).toEqual([]);
    const read = questions.filter(({ schema }) => schema !== undefined);
    expect(read.map(({ path }) => path.replace('/organizations/{organization}', ''))).toEqual([
      ...['/provisionerjobs', '/buildinfo', '/organizations', '/users/me', '/users/me/keys/{key of reader}'],
      ...[
        '/members',
        '/provisionerdaemons',
        '/provisionerdaemons',
        '/workspaces',
        '/templates',
        '/templates',
      ],
      ...['/templateversions/{linux-2}', '/authcheck'],
    ]);
    expect(questions.length - read.length).toBeGreaterThan(30);
  });

  it.each(recordedReleases())(
    'finds every question in the transcript of %s, with the same refusals',
    (release) => {
      const transcript = readTranscript(release);
      for (const question of questions) {
        const entry = transcript.entries.find(({ step }) => step === question.step);
        if (entry === undefined || !('asked' in entry)) throw new Error(`not played: ${question.step}`);
        if (question.schema !== undefined) continue;
        expect(entry.status).toBeGreaterThanOrEqual(400);
        expect(compareWithAll(question, entry, { transcripts: [transcript], version: release })).toEqual({
          kind: 'same',
        });
      }
    },
  );
});

describe('releasesToCompare', () => {
  const recorded = ['v2.25.3', 'v2.29.5', 'v2.29.19', 'v2.34.8'];

  it.each([
    { version: 'v2.25.3', expected: ['v2.25.3'], because: 'the release was recorded' },
    {
      version: 'v2.29.7+3006da5',
      expected: ['v2.29.5'],
      because: 'it is the nearest release that is not newer',
    },
    { version: 'v2.29.20', expected: ['v2.29.19'], because: 'it is the nearest release that is not newer' },
    { version: 'v2.29.0', expected: ['v2.29.5'], because: 'patch releases rarely change answers' },
    { version: 'v2.20.1', expected: ['v2.25.3'], because: 'the version is older than every recording' },
    {
      version: 'v2.27.4',
      expected: ['v2.25.3', 'v2.29.5'],
      because: 'a change between them may be older than this version',
    },
    { version: 'v2.40.0', expected: ['v2.34.8'], because: 'the version is newer than every recording' },
    { version: 'v0.0.0-devel', expected: ['v2.34.8'], because: 'the version names no release' },
  ])('compares $version with $expected: $because', ({ version, expected }) => {
    expect(releasesToCompare(version, recorded)).toEqual(expected);
  });
});
