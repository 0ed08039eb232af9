/** Tests which questions `doctor --deep` sends, and with which releases it compares the answers. */
import { describe, expect, it } from 'vitest';
import { readOnlyQuestions } from '../../../../cli/doctor/answers/read-only-steps.ts';
import {
  readTranscript,
  recordedReleases,
  releasesToCompare,
} from '../../../../cli/doctor/answers/recordings.ts';

const questions = readOnlyQuestions(readTranscript(recordedReleases().at(-1) ?? ''));

describe('readOnlyQuestions', () => {
  it('chooses exactly these questions', () => {
    const asked = questions.map(({ method, path, query }) => {
      const search = query.map((pair) => pair.join('=')).join('&');
      return `${method} ${path}${search === '' ? '' : `?${search}`}`;
    });
    expect(asked).toEqual([
      'GET /organizations/{organization}/provisionerjobs?status=pending,running&limit=0',
      'GET /buildinfo',
      'GET /organizations',
      'GET /users/me',
      'GET /users/me/keys/{key of reader}',
      'GET /organizations/{organization}/members',
      'GET /organizations/{organization}/provisionerdaemons?limit=1',
      'GET /organizations/{organization}/provisionerdaemons?max_age=1h&offline=true&limit=2',
      'GET /workspaces?limit=1',
      'GET /templates',
      'GET /templates?q=deprecated:true',
      'GET /templateversions/{linux-2}',
      'POST /authcheck',
    ]);
  });

  it.each(recordedReleases())('finds every question in the transcript of %s', (release) => {
    const played = new Set(readTranscript(release).entries.map(({ step }) => step));
    expect(questions.filter(({ step }) => !played.has(step))).toEqual([]);
  });
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
