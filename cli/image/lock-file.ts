/**
 * Parses the `provider` blocks of a lock file. Refuses what Terraform refuses (compared on 44 files): unknown
 * attributes and blocks, duplicates, expressions. It does not look into `constraints`.
 */

export type ProviderLock = {
  /** `<host>/<namespace>/<type>`. */
  readonly address: string;
  readonly version: string;
  /**
   * `h1:` covers the content of a package for one platform (not told which), `zh:` is the hash of
   * its zip.
   */
  readonly hashes: readonly string[];
};

/** Not a lock file that Terraform accepts. The message says where and why. */
export class LockFileError extends Error {
  override readonly name = 'LockFileError';
}

/** Larger than any lock file: one of 100 providers has 200 KB. */
export const LARGEST_LOCK_FILE = 1_000_000;

/** Throws LockFileError. */
export function parseLockFile(bytes: Uint8Array): readonly ProviderLock[] {
  if (bytes.length > LARGEST_LOCK_FILE)
    throw new LockFileError(`it has ${bytes.length} bytes; at most ${LARGEST_LOCK_FILE} are read`);
  const reader = new Reader(tokensOf(textOf(bytes)));
  const locks: ProviderLock[] = [];
  for (reader.skipNewlines(); reader.next.kind !== 'end'; reader.skipNewlines()) {
    const block = readBlock(reader);
    if (block === 'skipped') continue;
    if (locks.some(({ address }) => address === block.address))
      refuse(reader.next.line, `provider "${block.address}" has two blocks`);
    locks.push(block);
  }
  return locks;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new LockFileError('it is not UTF-8', { cause });
  }
}

function refuse(line: number, what: string): never {
  throw new LockFileError(`line ${line}: ${what}`);
}

type Token = {
  readonly kind: 'name' | 'string' | 'mark' | 'newline' | 'end';
  /** Of a string: its value. Of a mark: one of `{}[]=,`. */
  readonly text: string;
  readonly line: number;
};

/** Nothing else of HCL is in a lock file. A string has neither a newline nor an unescaped quote. */
const TOKEN = new RegExp(
  [
    /[ \t\r]+|(?:#|\/\/)[^\n]*|\/\*[\s\S]*?\*\//,
    /(?<newline>\n)/,
    /(?<name>[A-Za-z_][\w-]*)/,
    /(?<mark>[{}[\]=,])/,
    /"(?<string>(?:[^"\\\n]|\\[^\n])*)"/,
    /(?<other>[\s\S])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };
const LAST_CODE_POINT = 0x10ffff;

/** The last token is of the kind `end`. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const { 0: all, groups = {}, index } of text.matchAll(TOKEN)) {
    const { newline, name, mark, string, other } = groups;
    if (other !== undefined) refuse(line, `unexpected ${shown(text.slice(index))}`);
    if (newline !== undefined) tokens.push({ kind: 'newline', text: newline, line });
    if (name !== undefined) tokens.push({ kind: 'name', text: name, line });
    if (mark !== undefined) tokens.push({ kind: 'mark', text: mark, line });
    if (string !== undefined) tokens.push({ kind: 'string', text: unescaped(string, line), line });
    line += all.split('\n').length - 1;
  }
  return [...tokens, { kind: 'end', text: '', line }];
}

function shown(rest: string): string {
  return JSON.stringify(rest.replace(/\n[\s\S]*/, '').slice(0, 20));
}

function unescaped(inner: string, line: number): string {
  if (/\$\{|%\{/.test(inner)) refuse(line, 'a string has a template (${ or %{), which a lock file never has');
  return inner.replaceAll(ESCAPE, (whole, short?: string, long?: string, letter = '') => {
    const code = Number.parseInt(short ?? long ?? '', 16);
    const plain = code <= LAST_CODE_POINT ? String.fromCodePoint(code) : ESCAPED[letter];
    return plain ?? refuse(line, `unknown escape ${whole} in a string`);
  });
}

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get next(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', line: 0 };
  }

  /** Takes the next token if it is of this kind, with this text if one is given. */
  take(kind: Token['kind'], text?: string): string | undefined {
    const { next } = this;
    if (next.kind !== kind || (text !== undefined && next.text !== text)) return undefined;
    this.#at += 1;
    return next.text;
  }

  expect(kind: Token['kind'], text?: string): string {
    const { next } = this;
    const seen = next.kind === 'end' ? 'the end of the file' : JSON.stringify(next.text.slice(0, 40));
    return this.take(kind, text) ?? refuse(next.line, `expected ${text ?? `a ${kind}`}, found ${seen}`);
  }

  skip(): void {
    this.#at += 1;
  }

  skipNewlines(): void {
    while (this.next.kind === 'newline') this.skip();
  }
}

function readBlock(reader: Reader): ProviderLock | 'skipped' {
  const { line } = reader.next;
  const type = reader.expect('name');
  if (type !== 'provider' && type !== 'module') refuse(line, `unknown block "${type}"`);
  const address = reader.expect('string');
  reader.expect('mark', '{');
  if (type === 'module') return skipBody(reader);
  const { version, hashes = [] } = readBody(reader);
  if (reader.next.kind !== 'end') reader.expect('newline');
  if (version === undefined) return refuse(line, `provider "${address}" has no version`);
  return checkedLock({ address, version, hashes }, line);
}

function skipBody(reader: Reader): 'skipped' {
  for (let depth = 1; depth > 0; reader.skip()) {
    const { kind, text } = reader.next;
    if (kind === 'end') reader.expect('mark', '}');
    if (kind === 'mark' && text === '{') depth += 1;
    if (kind === 'mark' && text === '}') depth -= 1;
  }
  return 'skipped';
}

type Body = { version?: string; constraints?: string; hashes?: readonly string[] };

/** Attributes are on lines of their own; the last one may stand before the closing brace. */
function readBody(reader: Reader): Body {
  const body: Body = {};
  for (reader.skipNewlines(); reader.take('mark', '}') === undefined; reader.skipNewlines()) {
    const { line } = reader.next;
    const name = reader.expect('name');
    reader.expect('mark', '=');
    if (Object.hasOwn(body, name)) refuse(line, `"${name}" is given twice`);
    if (name === 'hashes') body.hashes = readHashes(reader);
    else if (name === 'version' || name === 'constraints') body[name] = reader.expect('string');
    else refuse(line, `unknown attribute "${name}"`);
    if (reader.next.kind !== 'mark') reader.expect('newline');
  }
  return body;
}

/** As in Terraform, the list is not empty, and each checksum has a kind, which ends with a colon. */
function readHashes(reader: Reader): readonly string[] {
  const { line } = reader.next;
  const hashes: string[] = [];
  reader.expect('mark', '[');
  for (reader.skipNewlines(); reader.take('mark', ']') === undefined; reader.skipNewlines()) {
    hashes.push(reader.expect('string'));
    reader.skipNewlines();
    if (reader.take('mark', ',') !== undefined) continue;
    reader.expect('mark', ']');
    break;
  }
  if (hashes.length === 0) refuse(line, '"hashes" is empty');
  const odd = hashes.find((hash) => !/^[^:]+:/.test(hash));
  if (odd !== undefined) refuse(line, `${JSON.stringify(odd)} is not a checksum`);
  return hashes;
}

/** Parts of addresses and versions become names of files and folders, so nothing else is accepted. */
const ADDRESS = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?\/[a-z0-9][a-z0-9_-]*\/[a-z0-9][a-z0-9_-]*$/;
const NUMBER = '(?:0|[1-9]\\d*)';
const SUFFIXES = '(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?';
const VERSION = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}${SUFFIXES}$`);
/** A newer Terraform may add a kind of checksum. */
const HASH = /^(?:h1:[A-Za-z0-9+/]{43}=|zh:[0-9a-f]{64}|(?!h1:|zh:)[!-~]+)$/;
const LONGEST = 200;

/** `line`: where the block begins. */
function checkedLock(lock: ProviderLock, line: number): ProviderLock {
  const { address, version, hashes } = lock;
  const quoted = (text: string): string => JSON.stringify(text.slice(0, LONGEST));
  if (!ADDRESS.test(address) || address.length > LONGEST || address.includes('..'))
    refuse(line, `${quoted(address)} is not an address of the form host/namespace/type`);
  if (!VERSION.test(version) || version.length > LONGEST)
    refuse(line, `provider ${quoted(address)} has the version ${quoted(version)}`);
  const flawed = hashes.find((hash) => !HASH.test(hash));
  if (flawed !== undefined)
    refuse(line, `provider ${quoted(address)} has the malformed checksum ${quoted(flawed)}`);
  return lock;
}
