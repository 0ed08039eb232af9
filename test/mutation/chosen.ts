/** A checker for Stryker that lets only the chosen mutants through. */
import { relative } from 'node:path';
import { type Checker, type CheckResult, CheckStatus } from '@stryker-mutator/api/check';
import type { Mutant, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import type { Change } from './sample.ts';

/** Names a change in the same way on every machine. */
export function keyOf({ fileName, location: { start, end }, mutatorName, replacement }: Change): string {
  const place = `${fileName}:${start.line}:${start.column}-${end.line}:${end.column}`;
  return `${place} ${mutatorName} ${replacement}`;
}

class ChosenChecker implements Checker {
  static readonly inject = tokens(commonTokens.options);
  readonly #chosen: ReadonlySet<unknown>;

  constructor({ chosenMutants }: StrykerOptions) {
    this.#chosen = new Set(Array.isArray(chosenMutants) ? chosenMutants : []);
  }

  async init(): Promise<void> {}

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, this.#resultOf(mutant)]));
  }

  #resultOf(mutant: Mutant): CheckResult {
    const key = keyOf({ ...mutant, fileName: relative('.', mutant.fileName) });
    if (this.#chosen.has(key)) return { status: CheckStatus.Passed };
    return { status: CheckStatus.CompileError, reason: 'not in the sample' };
  }

  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }
}

/** Stryker reads it. */
export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, 'chosen', ChosenChecker)];
