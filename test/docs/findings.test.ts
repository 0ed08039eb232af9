import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { READING_NAMES } from '../../lambda/decision/model/plan.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const CODE = /'([a-z-]+)'/g;
const CODES_OF_FIELD = /code: ((?:'[a-z-]+'(?: \| )?)+)/g;

/** The source of a union of the plan. */
function sourceOf(union: string): string {
  const [, source = ''] = read('lambda/decision/model/plan.ts').split(`export type ${union} =`);
  return source.split(/^(?:export|type) /m)[0] ?? '';
}

/** What the pages call each finding. A finding about a list is called after the list. */
function findingCodes(): readonly string[] {
  const ofFields = [...sourceOf('Finding').matchAll(CODES_OF_FIELD)].map(([, codes = '']) => codes).join();
  const unions = `${ofFields}${sourceOf('TasksFinding')}${sourceOf('Doubt')}`;
  const codes = [...unions.matchAll(CODE)].map(([, code = '']) => code);
  return [...codes, ...READING_NAMES.map((name) => `${name}-…`)];
}

it('explains every finding in troubleshooting.md or in the runbook', () => {
  const pages = read('docs/troubleshooting.md') + read('docs/operate.md');
  expect(findingCodes().length).toBeGreaterThan(60);
  const isExplained = (code: string): boolean =>
    pages.includes(`\`${code}\``) || pages.includes(`\n### ${code}\n`);
  expect(findingCodes().filter((code) => !isExplained(code))).toEqual([]);
});
