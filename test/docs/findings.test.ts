import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { READING_NAMES } from '../../lambda/decision/model/plan.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const CODE = /'([a-z-]+)'/g;
const CODE_OF_FIELDS = /^ {2}('[a-z-]+'):/gm;

/** The source of a type of the plan. */
function sourceOf(name: string): string {
  const [, source = ''] = read('lambda/decision/model/plan.ts').split(`type ${name} =`);
  return source.split(/^(?:export|type) /m)[0] ?? '';
}

/** What the pages call each finding. A finding about a list is called after the list. */
function findingCodes(): readonly string[] {
  const ofFields = [...sourceOf('FindingFields').matchAll(CODE_OF_FIELDS)].map(([, code]) => code).join();
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
