import { expect, it } from 'vitest';
import { unreadLists } from '../../cli/shared/live.ts';
import { ago, anOrganization, aSnapshot, aTemplate, MINUTE, reading } from '../support/parts.ts';

it('gives one line for each unreadable list, including the forecast', () => {
  const lists = {
    jobs: { ...reading([], 'failed'), error: 'listing jobs: no answer' },
    workspaces: { ...reading([], 'forbidden'), error: 'listing workspaces: not allowed' },
    templates: {
      ...reading([aTemplate()], 'stale'),
      error: 'listing templates: no answer',
      takenAt: ago(4 * MINUTE),
    },
    activeVersionTags: {},
  };
  expect(unreadLists(aSnapshot({ organizations: [anOrganization(lists)] }))).toEqual([
    'listing jobs: no answer',
    'listing workspaces: not allowed',
    'listing templates: no answer. Using the list of 4 min before',
  ]);
});

it('gives no line for an organization without a forecast', () => {
  expect(unreadLists(aSnapshot())).toEqual([]);
});
