import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderJsonSchema, renderPage, renderSettingsTable } from '../../cli/docs.ts';
import { rootSetting, type SettingNode, settingsBelow } from '../../lambda/config/schema/settings.ts';
import { rows } from '../support/runs.ts';

const inRoot = (file: string) => new URL(`../../${file}`, import.meta.url);

it('refuses in an editor the names of capacity providers that are not yours', () => {
  const [, pattern = ''] =
    /"provider": \{\s+"type": "string",\s+"pattern": (".*")/.exec(renderJsonSchema()) ?? [];
  const isName = new RegExp(JSON.parse(pattern), 'u');
  for (const name of ['FARGATE', 'Fargate_spot', 'ecs-1', 'AWS', '']) expect(name).not.toMatch(isName);
  for (const name of ['builders', 'my-FARGATE']) expect(name).toMatch(isName);
});

it('has in autoscaler.schema.json what `npm run docs` writes', () => {
  expect(readFileSync(inRoot('autoscaler.schema.json'), 'utf8')).toBe(renderJsonSchema());
});

// `npm run docs -- --check` in .ci/run compares docs/construct-api.md too, which is made from the text of the sources
it.each(rows(['docs/settings.md', 'docs/cost.md'], 1))('has in %s what `npm run docs` writes', (file) => {
  const page = readFileSync(inRoot(file), 'utf8');
  expect(page).toMatch(/^<!-- \/[a-z-]+ -->$/m);
  expect(renderPage(page)).toBe(page);
});

it('replaces only the part of a page between the markers', () => {
  const made = renderPage('# A\n<!-- settings -->\nold\n<!-- /settings -->\nrest\n');
  expect(made).toBe(`# A\n<!-- settings -->\n${renderSettingsTable()}\n<!-- /settings -->\nrest\n`);
  expect(renderPage('# A\n<!-- settings -->\n')).toBe('# A\n<!-- settings -->\n');
});

it('has a description of every setting and refuses unknown names in every mapping', () => {
  const settings = settingsBelow(rootSetting());
  expect(settings.filter(({ node }) => node.description === undefined)).toEqual([]);
  const isOpen = ({ properties, additionalProperties }: SettingNode) =>
    properties && additionalProperties !== false;
  expect([rootSetting(), ...settings.map(({ node }) => node)].filter(isOpen)).toEqual([]);
});
