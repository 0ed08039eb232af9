/** What several commands share. */
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findLogGroup } from '../../cli/logs/function-log.ts';
import { unreadLists } from '../../cli/shared/live.ts';
import { foldCommand, wrapLines } from '../../cli/shared/plain-table.ts';
import { joined, writeWhole } from '../../lab/what-if/cli/trace/whole-file.ts';
import { LOG_GROUP_TAG, POOL_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import { ownFolder } from '../support/own-folder.ts';
import {
  aConfig,
  ago,
  anOrganization,
  aPool,
  aService,
  aSnapshot,
  aTemplate,
  MINUTE,
  poolName,
  reading,
} from '../support/parts.ts';

const WORDS = 'needs a daemon for two autostops that coderd makes in a minute from now';

it.each([
  { is: 'below its mark', line: `  ! ${WORDS}`, indent: 4 },
  { is: 'below the last cell of a row', line: `  + gpu  1 -> 3  ${WORDS}`, indent: 17 },
  { is: 'below its own start', line: `    ${WORDS}`, indent: 4 },
  { is: 'from the first column on', line: WORDS, indent: 0 },
])('continues a long line $is', ({ line, indent }) => {
  const lines = wrapLines(`a title\n${line}`, 60).split('\n');
  expect(lines.length).toBeGreaterThan(2);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(60);
  expect(lines.slice(2).every((each) => each.search(/\S/) === indent)).toBe(true);
  expect(lines.slice(1).join(' ').replaceAll(/ +/g, ' ')).toBe(line.replaceAll(/ +/g, ' '));
});

it('keeps a word that is longer than a line, and all lines where no width is known', () => {
  const id = 'x'.repeat(70);
  expect(wrapLines(`  job  ${id}`, 60)).toBe(`  job  ${id}`);
  expect(wrapLines(WORDS)).toBe(WORDS);
});

it.each([
  {
    is: 'between words',
    command: 'coder users create --username a --org b',
    folded: ['coder users create \\', '  --username a --org b'],
  },
  {
    is: 'not within quotes',
    command: `read -rs 'a b c d e f' "$(x y z)"`,
    folded: [`read -rs 'a b c d e f' \\`, `  "$(x y z)"`],
  },
  {
    is: 'below the indent of each line',
    command: 'a |\n  bb cc dd ee ff gg hh ii',
    folded: ['a |', '  bb cc dd ee ff gg hh \\', '    ii'],
  },
  {
    is: 'as comments in a comment',
    command: '# a comment of more than this',
    folded: ['# a comment of more than', '# this'],
  },
])('folds a command $is', ({ command, folded }) => {
  expect(foldCommand(command, 24).split('\n')).toEqual(folded);
  expect(foldCommand(command)).toBe(command);
});

const folder = ownFolder();
const file = join(folder, 'trace.jsonl');

it('joins small pieces and keeps every character', () => {
  const pieces = Array.from({ length: 3 }, (_, index) => String(index).repeat(700_000));
  const texts = [...joined(pieces)];
  expect(texts.map(({ length }) => length)).toEqual([1_400_000, 700_000]);
  expect(texts.join('')).toBe(pieces.join(''));
});

it('writes pieces as one file', () => {
  writeWhole(file, ['a\n', 'b\n']);
  expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
});

it('keeps the old file when the text ends with an error', () => {
  writeWhole(file, 'old');
  function* broken(): Generator<string> {
    yield 'new';
    throw new RangeError('broken');
  }
  expect(() => writeWhole(file, broken())).toThrow('broken');
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['trace.jsonl']);
});

it('replaces a link at its .part, and leaves the file behind it alone', () => {
  const other = `${folder}/other`;
  writeFileSync(other, 'of another');
  symlinkSync(other, `${file}.part`);
  writeWhole(file, 'new');
  expect([file, other].map((name) => readFileSync(name, 'utf8'))).toEqual(['new', 'of another']);
});

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

// Which log group the commands read, from the tags of the services in the cluster.

const serviceOf = (pool: string, stack: string) =>
  aService({
    tags: [
      { key: POOL_TAG, value: pool },
      { key: LOG_GROUP_TAG, value: `/logs/${stack}` },
      { key: STACK_TAG, value: stack },
    ],
  });

const EU = serviceOf('cpu-eu', 'Eu');
const US = serviceOf('cpu-us', 'Us');
const OLD = aService({ tags: [{ key: POOL_TAG, value: 'cpu-us' }] });
const config = aConfig(aPool({ name: poolName('cpu-us') }));

describe('the log group of the function', () => {
  it.each([
    { services: [EU, US], group: '/logs/Us', because: 'the pool of the other service is not in the file' },
    { services: [US, EU], group: '/logs/Us', because: 'the order does not matter' },
    { services: [OLD, US], group: '/logs/Us', because: 'one service has no such tag yet' },
    { services: [EU], group: '/logs/Eu', because: 'no pool of the file is deployed yet' },
    { services: [OLD], group: undefined, because: 'no service names one' },
  ])('is $group: $because', ({ services, group }) => {
    expect(findLogGroup(services, config)?.group).toBe(group);
  });
});
