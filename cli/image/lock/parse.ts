/**
 * Parses a lock file: `provider` blocks with `version`, `constraints` and `hashes`. It refuses what
 * Terraform refuses (compared on 44 files): unknown attributes and blocks, duplicates, expressions.
 * It does not look into `constraints`, which nothing here needs.
 */
import { LockFileError } from './lock-file-error.ts';
import { checkedLock, type ProviderLock } from './provider-lock.ts';
import { type Token, tokensOf } from './tokens.ts';

/** Larger than any lock file: one of 100 providers has 200 KB. */
export const LARGEST_LOCK_FILE = 1_000_000;

/** Throws LockFileError. */
export function parseLockFile(bytes: Uint8Array): readonly ProviderLock[] {
  if (bytes.length > LARGEST_LOCK_FILE)
    throw new LockFileError(`it has ${bytes.length} bytes; at most ${LARGEST_LOCK_FILE} are read`);
  const reader = new Reader(tokensOf(textOf(bytes)));
  const locks: ProviderLock[] = [];
  for (let block = readBlock(reader); block !== 'end'; block = readBlock(reader)) {
    if (block === 'skipped') continue;
    if (locks.some(({ address }) => address === block.address))
      throw new LockFileError(`line ${reader.line}: provider "${block.address}" has two blocks`);
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

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get line(): number {
    return this.#peek().line;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', line: 0 };
  }

  take(): Token {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  /** Whether the next token is this mark, which is then taken. */
  takes(mark: string): boolean {
    const { kind, text } = this.#peek();
    const isMark = kind === 'mark' && text === mark;
    if (isMark) this.#at += 1;
    return isMark;
  }

  expect(kind: Token['kind'], text?: string): string {
    const token = this.take();
    if (token.kind === kind && (text === undefined || token.text === text)) return token.text;
    const seen = token.kind === 'end' ? 'the end of the file' : JSON.stringify(token.text.slice(0, 40));
    throw new LockFileError(`line ${token.line}: expected ${text ?? `a ${kind}`}, found ${seen}`);
  }

  skipNewlines(): void {
    while (this.#peek().kind === 'newline') this.#at += 1;
  }

  isAt(kind: Token['kind']): boolean {
    return this.#peek().kind === kind;
  }
}

function readBlock(reader: Reader): ProviderLock | 'skipped' | 'end' {
  reader.skipNewlines();
  if (reader.isAt('end')) return 'end';
  const { line } = reader;
  const type = reader.expect('name');
  if (type !== 'provider' && type !== 'module')
    throw new LockFileError(`line ${line}: unknown block "${type}"`);
  const address = reader.expect('string');
  reader.expect('mark', '{');
  if (type === 'module') return skipBody(reader);
  const body = readBody(reader);
  if (!reader.isAt('end')) reader.expect('newline');
  if (body.version === undefined)
    throw new LockFileError(`line ${line}: provider "${address}" has no version`);
  return checkedLock({ address, version: body.version, hashes: body.hashes ?? [] }, line);
}

function skipBody(reader: Reader): 'skipped' {
  for (let depth = 1; depth > 0; ) {
    if (reader.isAt('end')) reader.expect('mark', '}');
    if (reader.takes('{')) depth += 1;
    else if (reader.takes('}')) depth -= 1;
    else reader.take();
  }
  return 'skipped';
}

type Body = { version?: string; constraints?: string; hashes?: readonly string[] };

function readBody(reader: Reader): Body {
  const body: Body = {};
  for (reader.skipNewlines(); !reader.takes('}'); reader.skipNewlines()) {
    const { line } = reader;
    const name = reader.expect('name');
    reader.expect('mark', '=');
    if (Object.hasOwn(body, name)) throw new LockFileError(`line ${line}: "${name}" is given twice`);
    if (name === 'hashes') body.hashes = readHashes(reader);
    else if (name === 'version' || name === 'constraints') body[name] = reader.expect('string');
    else throw new LockFileError(`line ${line}: unknown attribute "${name}"`);
    endAttribute(reader);
  }
  return body;
}

/** Attributes are on lines of their own; the last one may stand before the closing brace. */
function endAttribute(reader: Reader): void {
  if (reader.isAt('mark')) return;
  reader.expect('newline');
}

/** As in Terraform, the list is not empty, and each checksum has a kind, which ends with a colon. */
function readHashes(reader: Reader): readonly string[] {
  const { line } = reader;
  const hashes = readStrings(reader);
  if (hashes.length === 0) throw new LockFileError(`line ${line}: "hashes" is empty`);
  const odd = hashes.find((hash) => !/^[^:]+:/.test(hash));
  if (odd !== undefined) throw new LockFileError(`line ${line}: ${JSON.stringify(odd)} is not a checksum`);
  return hashes;
}

function readStrings(reader: Reader): readonly string[] {
  const strings: string[] = [];
  reader.expect('mark', '[');
  for (reader.skipNewlines(); !reader.takes(']'); reader.skipNewlines()) {
    strings.push(reader.expect('string'));
    reader.skipNewlines();
    if (reader.takes(',')) continue;
    reader.expect('mark', ']');
    return strings;
  }
  return strings;
}
