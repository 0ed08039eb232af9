/** Writes tar archives (POSIX ustar) of small text files, as `coder templates push` does. */

const BLOCK = 512;

/** `files`: text by name. Names have at most 100 characters. */
export function tarArchive(files: Readonly<Record<string, string>>): Uint8Array {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    return [header(name, content.length), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  return new Uint8Array(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
}

function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  block.write(name, 0);
  block.write(octal(0o644, 7), 100);
  block.write(octal(0, 7) + octal(0, 7) + octal(size, 11) + octal(0, 11), 108);
  block.write('        0', 148);
  block.write('ustar\u000000', 257);
  const checksum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
