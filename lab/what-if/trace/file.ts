/** Reads a trace from a file or standard input, one chunk at a time. */
import { closeSync, openSync, readSync } from 'node:fs';
import { describeReadError } from '../../../lambda/config/load.ts';
import { TraceError } from './problems.ts';
import { type ReadTrace, readTrace } from './read.ts';

const INPUT = 'standard input';

/** `-` means standard input. Throws TraceError if the file is missing, unreadable or no valid trace. */
export function readTraceFile(file: string, options: { readonly skipBad?: boolean } = {}): ReadTrace {
  if (file === '-') return readTrace(linesOf(0, INPUT), { name: INPUT, ...options });
  return readTrace(linesOfFile(file), { name: file, ...options });
}

const GZIP = [0x1f, 0x8b];
const PIECE_BYTES = 1 << 20;

function* linesOfFile(file: string): Generator<string> {
  const descriptor = open(file);
  try {
    yield* linesOf(descriptor, file);
  } finally {
    closeSync(descriptor);
  }
}

function* linesOf(descriptor: number, file: string): Generator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const piece = Buffer.alloc(PIECE_BYTES);
  let rest = '';
  let isFirst = true;
  for (let bytes = read(file, descriptor, piece); bytes > 0; bytes = read(file, descriptor, piece)) {
    if (isFirst && piece[0] === GZIP[0] && piece[1] === GZIP[1])
      throw new TraceError(`${file}: reading the file: it is compressed; run gunzip first`);
    isFirst = false;
    const lines = (rest + decode(file, decoder, piece.subarray(0, bytes))).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest + decode(file, decoder);
}

/** Without a piece: the end. */
function decode(file: string, decoder: InstanceType<typeof TextDecoder>, piece?: Uint8Array): string {
  try {
    return decoder.decode(piece, { stream: piece !== undefined });
  } catch (cause) {
    throw new TraceError(`${file}: reading the file: it is not UTF-8; save it as UTF-8`, { cause });
  }
}

function open(file: string): number {
  try {
    return openSync(file, 'r');
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function read(file: string, descriptor: number, piece: Buffer): number {
  for (;;) {
    try {
      return readSync(descriptor, piece, 0, piece.length, null);
    } catch (cause) {
      // the pipe has no data yet: wait, then try again
      if ((cause as NodeJS.ErrnoException).code !== 'EAGAIN') throw unreadable(file, cause);
      Atomics.wait(NEVER_NOTIFIED, 0, 0, RETRY_MS);
    }
  }
}

const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));
const RETRY_MS = 10;

function unreadable(file: string, cause: unknown): TraceError {
  return new TraceError(`${file}: reading the file: ${describeReadError(cause)}`, { cause });
}
