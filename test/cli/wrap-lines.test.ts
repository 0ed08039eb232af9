import { expect, it } from 'vitest';
import { foldCommand, wrapLines } from '../../cli/shared/plain-table.ts';

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
