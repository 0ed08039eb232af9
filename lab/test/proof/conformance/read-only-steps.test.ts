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
  it('chooses exactly these questions', () => {
    const asked = questions.map(({ method, path, query, as, schema }) => {
      const search = query.map((pair) => pair.join('=')).join('&');
      return `${schema === undefined ? 'refused' : 'read'} ${method} ${path}${search === '' ? '' : `?${search}`} as ${as}`;
    });
    expect(asked).toEqual([
      'read GET /organizations/{organization}/provisionerjobs?status=pending,running&limit=0 as reader',
      'read GET /buildinfo as nobody',
      'read GET /organizations as reader',
      'read GET /users/me as reader',
      'read GET /users/me/keys/{key of reader} as reader',
      'read GET /organizations/{organization}/members as reader',
      'read GET /organizations/{organization}/provisionerdaemons?limit=1 as reader',
      'read GET /organizations/{organization}/provisionerdaemons?max_age=1h&offline=true&limit=2 as reader',
      'read GET /workspaces?limit=1 as reader',
      'read GET /templates as reader',
      'read GET /templates?q=deprecated:true as reader',
      'read GET /templateversions/{linux-2} as reader',
      'read POST /authcheck as reader',
      'refused GET /organizations/{organization}/provisionerjobs?status=pending as nobody',
      'refused GET /organizations/{organization}/provisionerjobs?status=pending as abcdefghij-abcdefghijklmnopqrstuv',
      'refused GET /organizations/{organization}/provisionerjobs?status=pending as wrong',
      'refused GET /organizations/{organization}/provisionerjobs?limit=-1&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerjobs?limit=many&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerjobs?limit=2147483648&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerjobs?limit=1&limit=2&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerjobs?offset=1&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerjobs?ids=nope&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerjobs?tags=nope&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerjobs?tags={"a":1}&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerjobs?initiator=nope&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerjobs?limit=-1&ids=nope&what=ever&status=pending as reader',
      'refused GET /organizations/{organization}/provisionerdaemons?limit=-1 as reader',
      'refused GET /organizations/{organization}/provisionerdaemons?what=ever as reader',
      'refused GET /organizations/{organization}/provisionerdaemons?ids=nope as reader',
      'refused GET /organizations/{organization}/provisionerdaemons?tags=nope as reader',
      'refused GET /organizations/{organization}/provisionerdaemons?offline=maybe as reader',
      'refused GET /organizations/{organization}/provisionerdaemons?max_age=soon as reader',
      'refused GET /workspaces?limit=-1 as reader',
      'refused GET /workspaces?offset=x&limit=1 as reader',
      'refused GET /workspaces?after_id=nope&limit=1 as reader',
      'refused GET /workspaces?q=bogus:1&limit=1 as reader',
      'refused GET /templates?q=bogus:1 as reader',
      'refused GET /templates?q=deprecated:maybe as reader',
      'refused GET /organizations/00000000-0000-4000-8000-000000000000/provisionerjobs?status=pending as reader',
      'refused GET /organizations/00000000-0000-4000-8000-000000000000/provisionerdaemons as reader',
      'refused GET /organizations/{organization}/provisionerjobs/00000000-0000-4000-8000-000000000000 as reader',
      'refused GET /organizations/{organization}/provisionerjobs/nope as reader',
      'refused GET /templateversions/00000000-0000-4000-8000-000000000000 as reader',
      'refused GET /templateversions/nope as reader',
      'refused GET /workspaces/00000000-0000-4000-8000-000000000000/builds as reader',
      'refused GET /workspaces/nope/builds as reader',
      'refused GET /users/me/keys/00000000-0000-4000-8000-000000000000 as reader',
      'refused POST /authcheck as reader',
    ]);
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
