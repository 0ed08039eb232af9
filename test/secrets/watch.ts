/**
 * Searches everything that a test prints, writes to a file or hands in for the tokens and keys that
 * the simulators made in it. A test that lets one out fails. vitest runs this file before each test
 * file.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, afterEach } from 'vitest';
import { SECRETS_CHANNEL } from '../../lab/world/base/secret-made.ts';
import { OUTPUT_CHANNEL, type Output } from './output.ts';

/** A shorter text may stand in others by chance. */
const LEAST_LENGTH = 12;

const secrets = new Set<string>();
const outputs: Output[] = [];
/** The next file may share this process. */
const undo: (() => unknown)[] = [];

function listen(channel: string, listener: (message: unknown) => void): void {
  subscribe(channel, listener);
  undo.push(() => unsubscribe(channel, listener));
}

listen(SECRETS_CHANNEL, (secret) => {
  if (String(secret).length >= LEAST_LENGTH) secrets.add(String(secret));
});
listen(OUTPUT_CHANNEL, (output) => outputs.push(output as Output));

for (const name of ['writeFileSync', 'appendFileSync'] as const) {
  const write: typeof fs.appendFileSync = fs[name];
  const watched: typeof fs.appendFileSync = (file, data, ...rest) => {
    if (typeof data === 'string') outputs.push({ where: `the file ${String(file)}`, text: data });
    write(file, data, ...rest);
  };
  Object.assign(fs, { [name]: watched });
  undo.push(() => Object.assign(fs, { [name]: write }));
}
syncBuiltinESMExports();
undo.push(syncBuiltinESMExports);

for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
  const print = console[name];
  console[name] = (...texts: readonly unknown[]) => {
    outputs.push({ where: `console.${name}`, text: texts.map(String).join(' ') });
    print.call(console, ...texts);
  };
  undo.push(() => {
    console[name] = print;
  });
}
for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name];
  const write = stream.write;
  stream.write = ((chunk: string | Uint8Array, ...rest: []) => {
    outputs.push({ where: name, text: Buffer.from(chunk as string).toString() });
    return write.call(stream, chunk, ...rest);
  }) as typeof stream.write;
  undo.push(() => {
    stream.write = write;
  });
}

/** Empties the record of this test and returns the places where a secret stands. */
export function takeLeaks(): readonly string[] {
  const found = outputs
    .splice(0)
    .flatMap(({ where, text }) => ([...secrets].some((secret) => text.includes(secret)) ? [where] : []));
  return [...new Set(found)];
}

afterEach(() => {
  const leaks = takeLeaks();
  if (leaks.length > 0) throw new Error(`a token or key of the simulators stands in ${leaks.join(', ')}`);
});
afterAll(() => {
  for (const step of undo.splice(0)) step();
});
