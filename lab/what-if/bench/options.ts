/** Parsers of options. commander adds the name of the option to errors. */
import { InvalidArgumentError } from 'commander';
import { wholeNumber } from '../../world/base/whole-number.ts';
import { SCENARIOS } from '../scenarios/index.ts';
import type { Scenario } from '../trace/generate/scenario.ts';

export const MOST = 1000;

export function parseScenarios(text: string): readonly Scenario[] {
  return text.split(',').map((name) => {
    const found = SCENARIOS.find((scenario) => scenario.name === name);
    if (found !== undefined) return found;
    const known = SCENARIOS.map((scenario) => scenario.name).join(', ');
    throw new InvalidArgumentError(`there is no scenario "${name}"; choose from ${known}`);
  });
}

export function parseCount(text: string): number {
  const number = wholeNumber(text);
  if (number >= 1 && number <= MOST) return number;
  throw new InvalidArgumentError(`it must be a whole number from 1 to ${MOST}`);
}
