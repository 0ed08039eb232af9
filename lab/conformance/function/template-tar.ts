/** The template that is pushed to a real coderd: a tar of what coderd parses itself, and of what the harness's provisioner plays. */
import type { Tags } from '../../../lambda/core/tags.ts';

const BLOCK = 512;

/** Builds take as many milliseconds as the parameter `ms` says. Their tags are those of a `coder_workspace_tags` block. */
export function templateTar(tags: Tags): Uint8Array {
  const story = { parameters: [{ name: 'ms', default: '1000' }] };
  return tarOf({ 'main.tf': mainTf(tags), 'story.json': JSON.stringify(story) });
}

function mainTf(tags: Tags): string {
  const rows = Object.entries(tags).map(
    ([key, value]) => `    ${JSON.stringify(key)} = ${JSON.stringify(value)}`,
  );
  return [
    'terraform {',
    '  required_providers {',
    '    coder = { source = "coder/coder" }',
    '  }',
    '}',
    'data "coder_parameter" "ms" {',
    '  name    = "ms"',
    '  type    = "string"',
    '  default = "1000"',
    '  mutable = true',
    '}',
    ...(rows.length === 0 ? [] : ['data "coder_workspace_tags" "tags" {', '  tags = {', ...rows, '  }', '}']),
    '',
  ].join('\n');
}

/** A tar in the ustar format, of files by name (at most 100 bytes). */
export function tarOf(files: Readonly<Record<string, string>>): Uint8Array {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    return [headerOf(name, content.length), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
  header.write(name, 0);
  header.write(octal(0o644, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  // the checksum counts itself as blanks
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  header.write(
    `${octal(
      header.reduce((total, byte) => total + byte, 0),
      6,
    )}\u0000 `,
    148,
  );
  return header;
}
