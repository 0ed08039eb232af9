/** Compares a JSON document of a command with the fields that docs/internals/json.md lists. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

const rows = readFileSync('docs/internals/json.md', 'utf8').matchAll(/^\| `([a-z -]+)` \| (.+) \|$/gm);
const DOCUMENTED = new Map([...rows].map(([, command = '', text = '']) => [command, text]));

const namesIn = (text = ''): readonly string[] =>
  [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name).sort();

export function expectDocument(command: string, out: string): void {
  const [fields = '', optional] = (DOCUMENTED.get(command) ?? '').split('; optional ');
  const { version, ...document } = JSON.parse(out);
  expect(version).toBe(Number(/version (\d+)/.exec(fields)?.[1] ?? 1));
  const left = Object.keys(document).filter((name) => !namesIn(optional).includes(name));
  expect(left.sort()).toEqual(namesIn(fields));
}
