/** Changes the TypeScript of a room with Stryker: lists its mutants, and tests the chosen ones. */
import { globSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { LogLevel, MutantResult, PartialStrykerOptions } from '@stryker-mutator/api/core';
import type { Logger } from '@stryker-mutator/api/logging';
import { Stryker } from '@stryker-mutator/core';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { keyOf } from './chosen.ts';
import { makeCompiler } from './compiler.ts';
import type { Outcome, Status } from './outcome.ts';
import type { Room, Sample } from './rooms.ts';
import { type Change, choose } from './sample.ts';

const silent = { isDebugEnabled: () => false, debug() {}, info() {}, warn() {} } as unknown as Logger;

/** All mutants of the room. */
async function listMutants({ sources }: Room): Promise<readonly Change[]> {
  const files = sources
    .flatMap((pattern) => globSync(pattern))
    .sort()
    .map((name) => ({ name: resolve(name), mutate: true, content: readFileSync(name, 'utf8') }));
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const { mutants } = await new Instrumenter(silent).instrument(files, options);
  const changes = mutants.map((mutant) => ({ ...mutant, fileName: relative('.', mutant.fileName) }));
  return [...new Map(changes.map((change) => [keyOf(change), change])).values()];
}

/** Tests a sample of the room's mutants: with its quick tests, and what they do not notice with all its tests. */
export async function mutateTypeScript(
  room: Room,
  { count, seed, folder }: Sample,
): Promise<readonly Outcome[]> {
  const chosen = choose(await listMutants(room), count, seed);
  const first = room.quick === undefined ? [] : await testMutants(chosen, room.quick, folder);
  const noticed = first.filter(([, status]) => status !== 'survived');
  const known = new Set(noticed.map(([change]) => keyOf(change)));
  const left = chosen.filter((change) => !known.has(keyOf(change)));
  const rest = left.length === 0 ? [] : await testMutants(left, room.tests, folder);
  const isRefused = makeCompiler(join(folder, 'types'));
  return [...noticed, ...rest].map(([change, status]) => ({
    place: `${change.fileName}:${change.location.start.line + 1}:${change.location.start.column + 1}`,
    change: `${change.mutatorName}: ${change.replacement}`,
    status: status === 'survived' && isRefused(change) ? 'refused' : status,
  }));
}

/** What became of each of the mutants, by these tests. */
async function testMutants(
  chosen: readonly Change[],
  tests: readonly string[],
  folder: string,
): Promise<readonly (readonly [Change, Status])[]> {
  const keys = new Set(chosen.map(keyOf));
  const options = {
    // the ranges keep the first run short; one may hold smaller mutants, which the checker leaves out
    mutate: [...new Set(chosen.map(rangeOf))],
    // without a tsconfig.json Stryker does not try to use TypeScript 7, which it cannot
    ignorePatterns: ['tsconfig.json', 'infra/tsconfig.json', 'dist', 'cdk.out'],
    testRunner: 'vitest',
    vitest: { related: false },
    coverageAnalysis: 'perTest',
    dryRunTimeoutMinutes: 60,
    checkers: ['chosen'],
    plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'chosen.ts')],
    chosenMutants: [...keys],
    concurrency: 1,
    // a busy machine must not make a mutant look noticed
    timeoutMS: 60_000,
    tempDirName: join(folder, 'sandbox'),
    reporters: [],
    warnings: false,
    allowConsoleColors: false,
    logLevel: 'error' as LogLevel,
  } satisfies PartialStrykerOptions;
  // the option `testFiles` would switch mutants on too late for what a module computes when it is loaded
  process.env.MUTATED_ROOM_TESTS = tests.join(' ');
  const results = await new Stryker(options).runMutationTest();
  return results
    .map((result) => [changeOf(result), STATUS.get(result.status) ?? 'survived'] as const)
    .filter(([change]) => keys.has(keyOf(change)));
}

const STATUS: ReadonlyMap<string, Status> = new Map([
  ['Killed', 'killed'],
  ['RuntimeError', 'killed'],
  ['Timeout', 'timeout'],
]);

/** A result counts lines and columns from 1. */
function changeOf({ fileName, location: { start, end }, mutatorName, replacement }: MutantResult): Change {
  return {
    fileName: relative('.', fileName),
    location: {
      start: { line: start.line - 1, column: start.column - 1 },
      end: { line: end.line - 1, column: end.column - 1 },
    },
    mutatorName,
    replacement,
  };
}

/** A range of Stryker's `mutate` counts lines from 1 and columns from 0. */
function rangeOf({ fileName, location: { start, end } }: Change): string {
  return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}
