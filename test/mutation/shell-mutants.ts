/** Lists the mutants of a shell script that has one command on a line, as guard.sh has. Lines and columns count from 0. */
import type { Change } from './sample.ts';

type Rule = {
  readonly name: string;
  readonly pattern: RegExp;
  /** The texts in place of what the pattern has found. */
  readonly by: (found: string) => readonly string[];
};

const OPPOSITES: Readonly<Record<string, string>> = {
  '-gt': '-ge',
  '-ge': '-gt',
  '-lt': '-le',
  '-le': '-lt',
  '-eq': '-ne',
  '-ne': '-eq',
  '-n': '-z',
  '-z': '-n',
  '=': '!=',
  '!=': '=',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};
const opposite = (found: string): readonly string[] => [OPPOSITES[found] ?? found];

const RULES: readonly Rule[] = [
  { name: 'operator', pattern: /(?<=\[ .*)(?<= )(?:-gt|-ge|-lt|-le|-eq|-ne|-n|-z|!?=)(?= )/g, by: opposite },
  { name: 'and-or', pattern: /&&|\|\|/g, by: opposite },
  { name: 'condition', pattern: /(?<![\w"])\[ .*? \]/g, by: () => ['true', 'false'] },
  {
    name: 'condition',
    pattern: /(?<=^\s*(?:if|while) )[^[:].*(?=; (?:then|do))/g,
    by: () => ['true', 'false'],
  },
  { name: 'arithmetic', pattern: /(?<=\$\(\(.*)(?<= )[-+*/](?= )/g, by: opposite },
  // not of an arm (`0)`) or a file that is open (`2>&1`). A code other than 0 is false, a flag is not empty, and a list
  // of `for _` is only counted, whatever they hold
  {
    name: 'number',
    pattern: /(?<![\w$.{%#-]|>&|return |for _ in .*|\w=(?=1\b))\d+(?![\w.}]|>|\)(?!\)))/g,
    by: otherNumbers,
  },
  { name: 'default', pattern: /(?<=:-)\d+(?=\})/g, by: otherNumbers },
  { name: 'text', pattern: /"[^"]+"(?! *\))/g, by: () => ['""'] },
  { name: 'text', pattern: /(?<=(?:why=|drain |end \S+ ))[a-z]+(?:-[a-z]+)+/g, by: () => ['another'] },
  { name: 'exit code', pattern: /(?<=return )[01]/g, by: (found) => [found === '0' ? '1' : '0'] },
  // an arm of a case, and a command on a line of its own, after a condition, or in an arm
  { name: 'removed arm', pattern: /^\s+[^\s(][^()]*\) .*;;$/g, by: () => [''] },
  {
    name: 'removed command',
    pattern: /^\s*(?!(?:if|then|else|elif|fi|case|esac|while|for|do|done)\b)[\w"][^()]*$/g,
    by: () => [':'],
  },
  { name: 'removed command', pattern: /(?<=(?:\|\||&&|\)) )[\w{][^|&;]*(?= ?(?:;;|$))/g, by: () => [':'] },
  { name: 'removed signal', pattern: /(?<=^\s*trap .*) [A-Z]{3,4}\d?(?=[ ]|$)/g, by: () => [' USR2'] },
];

/** Half of a large number and twice as much; the next of a small one. */
function otherNumbers(found: string): readonly string[] {
  const number = Number(found);
  return number < 10 ? [`${number + 1}`] : [`${Math.floor(number / 2)}`, `${number * 2}`];
}

/** All mutants of a script's text. Comments stay. */
export function shellMutants(fileName: string, text: string): readonly Change[] {
  const changes = text.split('\n').flatMap((line, at) => {
    const code = line.replace(/(?:^|\s)#.*$/, '');
    return RULES.flatMap(({ name, pattern, by }) =>
      [...code.matchAll(pattern)].flatMap(({ 0: found, index }) =>
        by(found)
          .filter((replacement) => replacement !== found)
          .map((replacement) => ({
            fileName,
            location: { start: { line: at, column: index }, end: { line: at, column: index + found.length } },
            mutatorName: name,
            replacement:
              name === 'removed command' ? `${/^\s*/.exec(found)?.[0]}${replacement}` : replacement,
          })),
      ),
    );
  });
  return changes;
}
