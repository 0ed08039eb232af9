import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canRun,
  displayTags,
  normalizeTags,
  type Tags,
  tagKey,
} from '../../../lambda/decision/model/tags.ts';
import { runs } from '../../support/runs.ts';

type Row = { provisioner: Tags; job: Tags; same_org: boolean; can_run: boolean };
const { rows } = JSON.parse(
  readFileSync(new URL('../../../lab/proof/conformance/story/tag-matching.json', import.meta.url), 'utf8'),
) as {
  rows: readonly Row[];
};

const text = (tags: Tags): string => JSON.stringify(displayTags(tags));

describe('the tag table of Coder', () => {
  it('has all 21 rows', () => expect(rows).toHaveLength(21));

  it.each(rows)(
    'says whether a daemon with $provisioner runs $job (same organization: $same_org): $can_run',
    (row) => {
      // the caller of canRun compares the organization; here it is a column of the table
      expect(row.same_org && canRun(row.provisioner, row.job)).toBe(row.can_run);
    },
  );
});

const names = fc.constantFrom('scope', 'owner', 'env', 'dc', 'GPU', '', '__proto__', 'constructor');
const values = fc.constantFrom('user', 'organization', '', 'aaa', 'bbb', 'Chicago', 'chicago', 'weird');
const tagSets = fc
  .array(fc.tuple(names, values), { maxLength: 5 })
  .map((pairs): Tags => Object.fromEntries(pairs));

/**
 * A second implementation of the rule of docs/internals/coder.md §4: over text pairs, as Postgres
 * compares JSON.
 */
function independently(daemonTags: Tags, jobTags: Tags): boolean {
  const pairs = (tags: Tags): ReadonlySet<string> => {
    const user = tags.scope === 'user';
    const rest = Object.entries(tags).filter(([name]) => name !== 'scope' && name !== 'owner');
    const own = [
      ['scope', user ? 'user' : 'organization'],
      ['owner', user ? (tags.owner ?? '') : ''],
    ];
    return new Set([...own, ...rest].map((pair) => JSON.stringify(pair)));
  };
  const [daemon, job] = [pairs(daemonTags), pairs(jobTags)];
  const untagged = pairs({});
  const isUntagged = job.symmetricDifference(untagged).size === 0;
  return isUntagged ? daemon.symmetricDifference(job).size === 0 : job.isSubsetOf(daemon);
}

describe('canRun', () => {
  it('agrees with an independent implementation of the rule on 1,000 random tag sets', () => {
    fc.assert(
      fc.property(tagSets, tagSets, (daemon, job) => {
        expect(canRun(daemon, job), `${text(daemon)} runs ${text(job)}`).toBe(independently(daemon, job));
      }),
      runs(1000),
    );
  });

  it('is true for a daemon with all tags of a tagged job, on 1,000 random tag sets', () => {
    fc.assert(
      fc.property(tagSets, tagSets, (job, extra) => {
        const tagged = { ...job, env: 'prod' };
        expect(canRun({ ...extra, ...tagged }, tagged)).toBe(independently({ ...extra, ...tagged }, tagged));
      }),
      runs(1000),
    );
  });
});

describe('normalizeTags', () => {
  it.each([
    { tags: {}, expected: { scope: 'organization', owner: '' }, because: 'no scope is the organization' },
    {
      tags: { scope: 'user', owner: 'aaa' },
      expected: { scope: 'user', owner: 'aaa' },
      because: 'a user keeps its owner',
    },
    { tags: { scope: 'user' }, expected: { scope: 'user', owner: '' }, because: 'an owner is always there' },
    {
      tags: { scope: 'site', owner: 'aaa', a: '1' },
      expected: { scope: 'organization', owner: '', a: '1' },
      because: 'any other scope is the organization',
    },
    {
      tags: { owner: 'aaa' },
      expected: { scope: 'organization', owner: '' },
      because: 'an organization has no owner',
    },
  ])('turns $tags into $expected: $because', ({ tags, expected }) => {
    expect(normalizeTags(tags)).toEqual(expected);
  });
});

describe('tagKey', () => {
  it('is equal for every order of the tags and differs for different tags', () => {
    expect(tagKey({ a: '1', b: '2' })).toBe(tagKey({ b: '2', scope: 'organization', a: '1' }));
    expect(tagKey({ a: '1' })).not.toBe(tagKey({ a: '2' }));
    expect(tagKey({ 'a"': '1' })).not.toBe(tagKey({ a: '"1' }));
  });
});

describe('displayTags', () => {
  it('leaves out scope and owner of an organization', () => {
    expect(displayTags({ a: '1' })).toEqual({ a: '1' });
    expect(displayTags({ scope: 'user', owner: 'aaa', a: '1' })).toEqual({
      scope: 'user',
      owner: 'aaa',
      a: '1',
    });
  });
});
