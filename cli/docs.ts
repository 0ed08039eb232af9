/**
 * `npm run docs`: writes files from the configuration's schema, the table of metrics, examples/ and the construct.
 * `--check` only compares.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { KINDS } from '../lambda/config/schema/kinds.ts';
import {
  configJsonSchema,
  kindOf,
  rootSetting,
  type Setting,
  type SettingNode,
  settingAt,
  valuesBelow,
} from '../lambda/config/schema/settings.ts';
import { ownValue } from '../lambda/decision/model/collections.ts';
import { renderApi } from './api-page.ts';
import { cloudWatchBoard, grafanaBoard } from './boards.ts';
import { renderCostLines, renderSizes } from './sizes-page.ts';

/** Made once: it takes some milliseconds, and a page looks into it for each of its rows. */
const ROOT = rootSetting();

export function renderJsonSchema(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

export function renderSettingsTable(): string {
  const rows = valuesBelow(ROOT)
    .filter(({ node }) => node.deprecated !== true)
    .map(renderRow);
  return ['| setting | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** The generated parts of pages, each between `<!-- name -->` and `<!-- /name -->`. */
const PARTS: Readonly<Record<string, () => string>> = {
  settings: renderSettingsTable,
  sizes: renderSizes,
  'cost-lines': renderCostLines,
  'construct-api': renderApi,
};

/** The page with new generated parts. The text outside them is written by hand. */
export function renderPage(page: string): string {
  return page.replaceAll(/<!-- ([a-z-]+) -->\n(?:[\s\S]*?\n)?<!-- \/\1 -->/g, (part, name: string) => {
    const text = ownValue(PARTS, name)?.();
    return text === undefined ? part : `<!-- ${name} -->\n${text}\n<!-- /${name} -->`;
  });
}

function renderRow(setting: Setting): string {
  const { path, node } = setting;
  const cells = [`\`${path}\``, typeOf(node), defaultOf(setting), meaningOf(setting)];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** A setting of a pool that is also one of all pools is described once. */
function meaningOf({ path, node }: Setting): string {
  const shared = [path.replace(/^pools\[\]\./, ''), path.replace(/^pools\[\]/, 'defaults')].find(
    (other) => other !== path && settingAt(ROOT, other.split('.'))?.description === node.description,
  );
  return shared === undefined ? (node.description ?? '') : `As \`${shared}\`, for this pool.`;
}

function typeOf(node: SettingNode): string {
  if (node.anyOf) return node.anyOf.map(typeOf).join(' or ');
  const kind = kindOf(node);
  if (kind !== undefined) return KINDS[kind].form;
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  if (node.enum) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (node.type === 'integer') return wholeNumber(node);
  if (node.type === 'array') return 'list';
  if (node.additionalProperties) return `name: ${typeOf(node.additionalProperties)}`;
  return node.type === 'object' ? 'mapping' : (node.type ?? '');
}

function wholeNumber({ minimum, maximum }: SettingNode): string {
  return maximum === undefined
    ? `whole number, ${minimum} or more`
    : `whole number, ${minimum} to ${maximum}`;
}

function defaultOf({ path, node, isRequired }: Setting): string {
  if (isRequired) return '**required**';
  if (node.follows !== undefined) return node.follows;
  if (node.default !== undefined)
    return `\`${typeof node.default === 'string' ? node.default : JSON.stringify(node.default)}\``;
  const shared = path.replace(/^pools\[\]/, 'defaults');
  return shared !== path && settingAt(ROOT, shared.split('.')) ? `\`${shared}\`` : 'none';
}

type Document = { readonly file: string; readonly text: string };

const PAGES = ['docs/settings.md', 'docs/cost.md', 'docs/construct-api.md'];

export const BOARDS = [
  { file: 'examples/dashboards/cloudwatch.json', board: cloudWatchBoard },
  { file: 'examples/dashboards/grafana.json', board: grafanaBoard },
] as const;

function documents(): Document[] {
  const pages = PAGES.filter((file) => existsSync(file));
  return [
    { file: 'autoscaler.schema.json', text: renderJsonSchema() },
    ...BOARDS.map(({ file, board }) => ({ file, text: `${JSON.stringify(board(), null, 2)}\n` })),
    ...pages.map((file) => ({ file, text: renderPage(readFileSync(file, 'utf8')) })),
  ];
}

function isCurrent({ file, text }: Document): boolean {
  return existsSync(file) && readFileSync(file, 'utf8') === text;
}

function main(): void {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const outdated = documents().filter((document) => !isCurrent(document));
  for (const { file, text } of outdated) {
    if (!values.check) writeFileSync(file, text);
    console.log(values.check ? `${file} is out of date. Run npm run docs` : `wrote ${file}`);
  }
  if (values.check && outdated.length > 0) process.exitCode = 1;
}

if (import.meta.main) main();
