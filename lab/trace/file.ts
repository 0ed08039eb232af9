/** A trace in a file, read piece by piece. */
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { whyUnreadable } from '../../lambda/adapters/config/load.ts';
import { TraceError } from './problems.ts';
import { type ReadTrace, readTrace } from './read.ts';

/** Throws TraceError, also where there is no such file. */
export function readTraceFile(file: string, options: { readonly skipBad?: boolean } = {}): ReadTrace {
  return readTrace(linesOf(file), { name: file, ...options });
}

const PIECE_BYTES = 1 << 20;

function* linesOf(file: string): Generator<string> {
  const descriptor = open(file);
  try {
    const decoder = new StringDecoder('utf8');
    const piece = Buffer.alloc(PIECE_BYTES);
    let rest = '';
    for (let bytes = read(file, descriptor, piece); bytes > 0; bytes = read(file, descriptor, piece)) {
      const lines = (rest + decoder.write(piece.subarray(0, bytes))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    yield rest + decoder.end();
  } finally {
    closeSync(descriptor);
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
  try {
    return readSync(descriptor, piece, 0, piece.length, null);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): TraceError {
  return new TraceError(`${file}: reading the trace: ${whyUnreadable(cause)}`, { cause });
}
