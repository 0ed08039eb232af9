import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The codes of the union `Finding`, from its source. */
function findingCodes(): readonly string[] {
  const [, source = ''] = read('lambda/decision/model/plan.ts').split('export type Finding =');
  const union = source.split(/^export /m)[0] ?? '';
  return [...union.matchAll(/code: ((?:'[a-z-]+'(?: \| )?)+)/g)].flatMap(([, codes = '']) =>
    [...codes.matchAll(/'([a-z-]+)'/g)].map(([, code = '']) => code),
  );
}

it('explains every finding in troubleshooting.md or in the runbook', () => {
  const pages = read('docs/troubleshooting.md') + read('docs/operate.md');
  expect(findingCodes().length).toBeGreaterThan(20);
  expect(findingCodes().filter((code) => !pages.includes(code))).toEqual([]);
});
