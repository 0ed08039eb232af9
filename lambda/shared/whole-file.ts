/** Files that are whole or not there: a full disk or a killed command leaves no half of one under its name. */
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

type Content = string | Uint8Array | Iterable<string>;

type WriteOptions = {
  /** Whether a file that exists is an error (`EEXIST`). @default false */
  readonly isNew?: boolean;
};

/**
 * Writes beside the file, then renames. A device is written as it is, and a link leads to its file. Throws the
 * error of the file system, and leaves what was there.
 */
export function writeFileWhole(file: string, content: Content, { isNew = false }: WriteOptions = {}): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  const before = statSync(target, { throwIfNoEntry: false });
  if (before && !isNew && !before.isFile()) {
    write(openSync(target, 'w'), content);
    return;
  }
  const part = `${target}.part`;
  try {
    writePart(part, content);
    if (before) chmodSync(part, before.mode);
    if (isNew) claim(part, target);
    else renameSync(part, target);
  } catch (cause) {
    rmSync(part, { force: true });
    throw cause;
  }
}

/** Throws the error of the file system if there can be no such file. Leaves nothing. */
export function tryWriting(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) {
    closeSync(openSync(file, 'a'));
    return;
  }
  const part = `${existsSync(file) ? realpathSync(file) : file}.part`;
  writePart(part, '');
  rmSync(part);
}

/** Follows no link of another user. */
function writePart(part: string, content: Content): void {
  rmSync(part, { force: true });
  write(openSync(part, 'wx'), content);
}

function write(descriptor: number, content: Content): void {
  try {
    for (const piece of piecesOf(content)) writeFileSync(descriptor, piece);
  } finally {
    closeSync(descriptor);
  }
}

/** Not every file system has links. */
function claim(part: string, target: string): void {
  try {
    linkSync(part, target);
    rmSync(part);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(target)) throw cause;
    renameSync(part, target);
  }
}

function* piecesOf(content: Content): Generator<string | Uint8Array> {
  if (typeof content === 'string' || content instanceof Uint8Array) yield content;
  else yield* content;
}
