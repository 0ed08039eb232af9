/** Parses YAML text into a value, and finds the position of each setting in the text. */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { error, type Mistake, type Problem } from './problems/problems.ts';
import { type Path, shownText } from './problems/shown.ts';

type Position = { readonly line: number; readonly column: number };
type Ancestors = readonly (Document | Node | Pair)[];

export type YamlSource =
  | { readonly kind: 'broken'; readonly problems: readonly Problem[] }
  | {
      readonly kind: 'parsed';
      readonly value: unknown;
      /** Keys that are given twice. */
      readonly findings: readonly Mistake[];
      /**
       * The position of a setting: its name, or its dash in a list. For a missing setting, the
       * position of the mapping or list that would contain it.
       */
      readonly placeOf: (path: Path) => Position;
      /** A value as it is written: 1.10, which YAML reads as the number 1.1. */
      readonly writtenAt: (path: Path) => string | undefined;
    };

/** Parses YAML 1.2 with aliases and merge keys; without any tag of CloudFormation and its like. */
export function parseYaml(text: string): YamlSource {
  const lineCounter = new LineCounter();
  // Pretty errors quote the line, which may contain a secret.
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error', merge: true, lineCounter });
  const positionAt = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const broken = untilSyntaxError([...findBroken(document), ...findBadAliases(document)]);
  if (broken.length > 0) {
    const problems = broken.map(({ offset, message }) => toSyntaxProblem(positionAt(offset), message));
    return { kind: 'broken', problems: firstOfEachLine(problems) };
  }
  return toParsed(document, positionAt);
}

function toParsed(document: Document.Parsed, positionAt: (offset: number) => Position): YamlSource {
  try {
    const value: unknown = document.toJS();
    return {
      kind: 'parsed',
      value,
      findings: findDuplicateKeys(document),
      placeOf: (path) => positionAt(offsetOf(document, path)),
      writtenAt: (path) => {
        const node = document.getIn(path, true);
        return isScalar(node) ? node.source : undefined;
      },
    };
  } catch {
    // The parser refuses documents that expand without limit ("billion laughs").
    const message = 'too many nested aliases; write the settings without aliases';
    return { kind: 'broken', problems: [toSyntaxProblem({ line: 1, column: 1 }, message)] };
  }
}

type Flaw = { readonly offset: number; readonly message: string; readonly isSyntax: boolean };

function findBroken({ errors, warnings }: Document.Parsed): Flaw[] {
  return [...errors, ...warnings]
    .filter(({ code }) => code !== 'DUPLICATE_KEY')
    .map((flaw) => ({ offset: flaw.pos[0], message: describeFlaw(flaw), isSyntax: isSyntaxError(flaw) }));
}

/** Valid YAML that a configuration cannot use: the parser goes on after it. */
const NO_SYNTAX_ERRORS: ReadonlySet<string> = new Set(['TAG_RESOLVE_FAILED', 'MULTIPLE_DOCS']);

function isSyntaxError({ code }: YAMLError): boolean {
  return !NO_SYNTAX_ERRORS.has(code);
}

/** After a syntax error the parser guesses, so later flaws may be consequences of the first. */
function untilSyntaxError(flaws: readonly Flaw[]): readonly Flaw[] {
  const inOrder = flaws.toSorted((a, b) => a.offset - b.offset);
  const first = inOrder.findIndex(({ isSyntax }) => isSyntax);
  return first < 0 ? inOrder : inOrder.slice(0, first + 1);
}

const LOOK_HERE = 'check indentation, quotes and colons here';

/** What the parser found, in words that fit a configuration file, without what it quotes from the file. */
function describeFlaw({ code, message }: YAMLError): string {
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'the line is indented with a tab; use two spaces for each level';
    case 'TAG_RESOLVE_FAILED':
      return 'YAML tags such as !Ref of CloudFormation are not supported; write the value itself';
    case 'MULTIPLE_DOCS':
      return 'the file has a second YAML document ("---"); keep only one';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'not valid YAML: the line has a second "name: value"; begin a new line, or put the value in quotes';
    case 'BAD_SCALAR_START':
      return `not valid YAML: ${lowerFirst(message)}; put the value in quotes`;
    case 'UNEXPECTED_TOKEN':
      return `not valid YAML: ${lowerFirst(message.replace(/: .*$/s, ''))}; ${LOOK_HERE}`;
    case 'MISSING_CHAR':
      if (message.includes('quote')) return 'not valid YAML: a quote is not closed; close it';
      return `not valid YAML: ${lowerFirst(message)}; ${LOOK_HERE}`;
    default:
      return `not valid YAML: ${lowerFirst(message)}; ${LOOK_HERE}`;
  }
}

function findBadAliases(document: Document.Parsed): Flaw[] {
  const flaws: Flaw[] = [];
  visit(document, {
    Alias(_, alias, ancestors) {
      const message = aliasFlaw(document, alias, ancestors);
      if (message !== undefined) flaws.push({ offset: alias.range?.[0] ?? 0, message, isSyntax: false });
    },
  });
  return flaws;
}

function aliasFlaw(document: Document.Parsed, alias: Alias, ancestors: Ancestors): string | undefined {
  const target = alias.resolve(document);
  const name = shownText(`*${alias.source}`);
  if (target === undefined)
    return `the alias ${name} has no anchor before it; define the anchor with "&" and this name`;
  if (ancestors.includes(target))
    return `the alias ${name} refers to itself; write the settings without the alias`;
  return undefined;
}

function findDuplicateKeys(document: Document.Parsed): Mistake[] {
  const offsets = document.errors.filter(({ code }) => code === 'DUPLICATE_KEY').map(({ pos }) => pos[0]);
  const twins: Mistake[] = [];
  visit(document, {
    Pair(_, pair, ancestors) {
      if (!offsets.includes(startOf(pair.key))) return;
      twins.push(error(pathTo([...ancestors, pair]), 'this setting is written twice; keep one of them'));
    },
  });
  return twins;
}

function pathTo(nodes: Ancestors): Path {
  return nodes.flatMap((node, depth): Path => {
    if (isPair(node)) return [keyText(node)];
    const next = nodes[depth + 1];
    return isSeq(node) && next !== undefined ? [node.items.indexOf(next)] : [];
  });
}

function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const step of path) {
    const found: { from: unknown; to: unknown } | undefined = childOf(resolveAlias(node, document), step);
    if (found === undefined) break;
    offset = startOf(found.from);
    node = found.to;
  }
  return offset;
}

function childOf(node: unknown, step: string | number): { from: unknown; to: unknown } | undefined {
  if (isMap(node)) {
    const pair = node.items.findLast((candidate) => keyText(candidate) === step);
    return pair && { from: pair.key, to: pair.value };
  }
  const item = isSeq(node) && typeof step === 'number' ? node.items[step] : undefined;
  return item === undefined ? undefined : { from: item, to: item };
}

const resolveAlias = (node: unknown, document: Document) => (isAlias(node) ? node.resolve(document) : node);

const keyText = (pair: Pair): string => String(isScalar(pair.key) ? pair.key.value : pair.key);

const startOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? 0;

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

function toSyntaxProblem(position: Position, message: string): Problem {
  return { severity: 'error', path: '', message, ...position };
}

/** One mistake may cause several errors of the parser, so only the first of each line is kept. */
function firstOfEachLine(problems: readonly Problem[]): Problem[] {
  const firsts = new Map(problems.toReversed().map((problem) => [problem.line, problem]));
  return [...firsts.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
