/**
 * Splits the text of a lock file into tokens. A lock file has names, quoted strings without
 * templates, braces, brackets, equals signs, commas, newlines and comments, and nothing else of HCL.
 */
import { LockFileError } from './lock-file-error.ts';

export type Token = {
  readonly kind: 'name' | 'string' | 'mark' | 'newline' | 'end';
  /** Of a string: its value. Of a mark: one of `{}[]=,`. */
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
};

const BLANK = /[ \t\r]+|(?:#|\/\/)[^\n]*|\/\*[\s\S]*?\*\//y;
const NAME = /[A-Za-z_][\w-]*/y;
const MARK = /[{}[\]=,]/y;
/** Neither a newline nor an unescaped quote. */
const STRING = /"((?:[^"\\\n]|\\[^\n])*)"/y;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };
const LAST_CODE_POINT = 0x10ffff;

/** The last token is of the kind `end`. Throws LockFileError. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let [at, line] = [0, 1];
  while (at < text.length) {
    const { token, length } = tokenAt(text, at, line);
    if (token !== undefined) tokens.push(token);
    line += text.slice(at, at + length).split('\n').length - 1;
    at += length;
  }
  return [...tokens, { kind: 'end', text: '', line }];
}

type Scanned = { readonly token?: Token; readonly length: number };

function tokenAt(text: string, at: number, line: number): Scanned {
  const scan = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  const blank = scan(BLANK);
  if (blank !== null) return { length: blank[0].length };
  if (text[at] === '\n') return { token: { kind: 'newline', text: '\n', line }, length: 1 };
  const [name] = scan(NAME) ?? [];
  if (name !== undefined) return { token: { kind: 'name', text: name, line }, length: name.length };
  const [mark] = scan(MARK) ?? [];
  if (mark !== undefined) return { token: { kind: 'mark', text: mark, line }, length: 1 };
  const [quoted, inner] = scan(STRING) ?? [];
  if (quoted === undefined || inner === undefined)
    throw new LockFileError(`line ${line}: unexpected ${shown(text, at)}`);
  return { token: { kind: 'string', text: unescaped(inner, line), line }, length: quoted.length };
}

function shown(text: string, at: number): string {
  const [rest = ''] = text.slice(at).split('\n');
  return JSON.stringify(rest.slice(0, 20));
}

function unescaped(inner: string, line: number): string {
  if (/\$\{|%\{/.test(inner))
    throw new LockFileError(`line ${line}: a string has a template (\${ or %{), which a lock file never has`);
  return inner.replaceAll(ESCAPE, (whole, short?: string, long?: string, letter?: string) => {
    const code = short ?? long;
    const plain = code === undefined ? ESCAPED[letter ?? ''] : characterOf(Number.parseInt(code, 16));
    if (plain === undefined) throw new LockFileError(`line ${line}: unknown escape ${whole} in a string`);
    return plain;
  });
}

function characterOf(code: number): string | undefined {
  return code > LAST_CODE_POINT ? undefined : String.fromCodePoint(code);
}
