/**
 * What a release had and this version has not must be in docs/upgrade.md: commands, options, settings, and the codes
 * of plans. `releases/<version>.json` has the words of each release. `UPGRADE_BASELINE=write` stores those of the
 * version in package.json.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { run } from '../support/cli-run.ts';

const folder = fileURLToPath(new URL('releases', import.meta.url));

type Words = {
  readonly commands: readonly string[];
  readonly options: readonly string[];
  readonly settings: readonly string[];
  readonly codes: readonly string[];
  readonly metrics: readonly string[];
};

const helpOf = async (...command: readonly string[]) => (await run(...command, '--help')).out;
const allOf = (text: string, pattern: RegExp) => [
  ...new Set([...text.matchAll(pattern)].map(([, word = '']) => word)),
];
const namesIn = (help: string) =>
  allOf(help.replace(/^Examples:[\s\S]*/m, ''), /^ {2}([a-z][a-z-]+)(?: |$)/gm).filter(
    (name) => name !== 'help',
  );

async function wordsNow(): Promise<Words> {
  const commands: string[] = [];
  for (const name of namesIn(await helpOf())) {
    const nested = /^Commands:\n([\s\S]*)/m.exec(await helpOf(name))?.[1];
    commands.push(...(nested === undefined ? [name] : namesIn(nested).map((each) => `${name} ${each}`)));
  }
  const options: string[] = [];
  for (const command of commands) {
    const flags = allOf(await helpOf(...command.split(' ')), /^ {2}(?:-\w, )?(--[a-z0-9-]+)/gm);
    options.push(...flags.filter((flag) => flag !== '--help').map((flag) => `${command} ${flag}`));
  }
  const plan = ['plan', 'promise'].map((name) => readFileSync(`lambda/decision/model/${name}.ts`, 'utf8'));
  return {
    ...{ commands, options },
    settings: allOf(readFileSync('docs/settings.md', 'utf8'), /^\| `([^`]+)`/gm),
    codes: allOf(plan.join('\n'), /'([a-z]+(?:-[a-z]+)+)'/g),
    metrics: allOf(readFileSync('lambda/telemetry/metric-names.ts', 'utf8'), /^ +'?([A-Z][A-Za-z]+)'?[,:]/gm),
  };
}

const now = await wordsNow();

if (process.env.UPGRADE_BASELINE === 'write') {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  mkdirSync(folder, { recursive: true });
  // a released version does not change
  writeFileSync(`${folder}/${version}.json`, `${JSON.stringify(now, null, 1)}\n`, { flag: 'wx' });
}

const page = readFileSync('docs/upgrade.md', 'utf8');
/** What the first column of the tables of upgrade.md has between backticks, with paths written in full. */
const named = [...page.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) => {
  const words = allOf(cell, /`([^`]+)`/g);
  const parent = words[0]?.replace(/\.\w+$/, '') ?? '';
  return words.map((word) => (word.startsWith('.') ? parent + word : word));
});
const isNamed = (word: string): boolean =>
  named.some(
    (each) =>
      each === word ||
      each.startsWith(`${word} `) ||
      each.startsWith(`${word}: `) ||
      word.startsWith(`${each}[]`),
  );

const versions = readdirSync(folder).map((file) => file.replace('.json', ''));

it('has the words of each release that CHANGELOG.md names', () => {
  const released = allOf(readFileSync('CHANGELOG.md', 'utf8'), /^## \[(\d+\.\d+\.\d+)\]/gm);
  expect(versions.toSorted()).toEqual(released.toSorted());
});

describe.each(versions)('what %s had', (version) => {
  const before: Words = JSON.parse(readFileSync(`${folder}/${version}.json`, 'utf8'));
  const gone = (kind: keyof Words) => before[kind].filter((word) => !now[kind].includes(word));

  it.each(['commands', 'settings', 'codes', 'metrics'] as const)(
    'of %s is there, or named as ended',
    (kind) => {
      expect(gone(kind).filter((word) => !isNamed(word))).toEqual([]);
      expect(before[kind].length).toBeGreaterThan(10);
    },
  );

  it('of options is there, or named as ended, if the command is', () => {
    const left = gone('options').filter((option) =>
      now.commands.some((name) => option.startsWith(`${name} --`)),
    );
    expect(left.filter((word) => !isNamed(word))).toEqual([]);
  });
});

it('explains in waits.md each reason for which a start is unknown', () => {
  const text = readFileSync('lambda/explain/promise-text.ts', 'utf8');
  const [, reasons = ''] = /^const WHY[^{]*\{\n(.*?)^\}/ms.exec(text) ?? [];
  const codes = allOf(reasons, /^ {2}'?([a-z-]+)'?:/gm);
  const listed = allOf(readFileSync('docs/waits.md', 'utf8'), /^\| `([a-z-]+)` \|/gm);
  expect(codes.length).toBeGreaterThan(5);
  expect(codes.filter((code) => !listed.includes(code))).toEqual([]);
});
