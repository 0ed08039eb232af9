/** What pages of the documentation must have, and what their commands do. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { costOfStaticFleet, ownDollars, QUIET } from '../../cli/cost/cost.ts';
import { renderPage } from '../../cli/docs.ts';
import { DEFAULT_TOKEN_SECRET, KEY_TOKEN_SECRET } from '../../cli/draft/inputs.ts';
import { keyCommand, tokenCommand } from '../../cli/shared/credential-commands.ts';
import { loadDeployment } from '../../lambda/config/load.ts';
import { READING_NAMES } from '../../lambda/decision/model/plan.ts';
import { releaseOfImage } from '../../lambda/decision/model/version.ts';
import { run, runIn } from '../support/cli-run.ts';

// Checks that the README is short and wrapped, and has both commands on its first screen.

const lines = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const FIRST_SCREEN = 40;
const WIDTH = 110;

/** A row of a table cannot be wrapped. */
const isTableRow = (line: string): boolean => line.startsWith('|');

/** `npm install` of another version loses it. */
it('lets npm leave out the package with Node where Node is new enough', () => {
  const [manifest, lock] = ['package.json', 'package-lock.json'].map((file) =>
    JSON.parse(readFileSync(file, 'utf8')),
  );
  const own = Object.keys(manifest.optionalDependencies).map((name) => lock.packages[`node_modules/${name}`]);
  expect(own.map(({ engines }) => engines)).toEqual(own.map(() => ({ node: '<24.3.0' })));
});

it('has in docs/construct-api.md what `npm run docs` writes from the text of the sources', () => {
  const page = readFileSync('docs/construct-api.md', 'utf8');
  expect(page).toMatch(/^<!-- \/[a-z-]+ -->$/m);
  expect(renderPage(page)).toBe(page);
});

describe('the README', () => {
  it('has at most 200 lines', () => {
    expect(lines.length).toBeLessThanOrEqual(200);
  });

  it('wraps its lines, except the rows of tables', () => {
    expect(lines.filter((line) => !isTableRow(line) && line.length > WIDTH)).toEqual([]);
  });

  it.each(['npm ci --omit=dev && npm run demo', 'npm ci && npm run check'])(
    'has the command "%s" alone on a line of its first screen',
    (command) => {
      expect(lines.slice(0, FIRST_SCREEN)).toContain(command);
    },
  );
});

/** Badge, version and licence are what a person looks for first. */
it('names its workflow, version and licence at the top of the README', () => {
  const { version, license } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [, , ...top] = lines;
  const [badge = '', second = ''] = top;
  expect(badge).toContain(`Version ${version}, [${license.split('-')[0]}`);
  expect(second).toMatch(/^2\.0\]\(LICENSE\), not on npm yet/);
  expect(existsSync(`.github/${/actions\/(workflows\/[a-z]+\.yml)\)/.exec(badge)?.[1]}`)).toBe(true);
});

it('names on all pages what the cost of the example with 1,000 users is', () => {
  const { config } = loadDeployment('examples/1k-users.yaml');
  const half = (dollars: number): string => `$${(Math.round(dollars * 2) / 2).toFixed(2)}`;
  const own = `about ${half(ownDollars(config, QUIET))}`;
  const [readme, cost] = [lines.join(' '), read('docs/cost.md')];
  expect(readme).toContain(`the autoscaler itself ${own}.`);
  expect(cost).toContain(`you pay ${own} a month`);
  const [pool] = config.pools;
  const one = pool === undefined ? 0 : costOfStaticFleet(pool, 1);
  expect(readme).toContain(`it costs about $${one.toFixed(0)} a month`);
  const most = Math.round(one - ownDollars(config, QUIET));
  expect(readme).toContain(`save $${most} a month at most`);
  expect(readme).toContain(`instead of $${one.toFixed(0)}.`);
});

it('gives one replayed cost of 1,000 users on all pages, and none that was assumed', () => {
  const all = [...globSync('docs/*.md'), 'README.md', 'packaging/readme/cli.md'];
  const perMonth = all.flatMap((file) =>
    [
      ...read(file)
        .replaceAll(/\s+/g, ' ')
        .matchAll(/\$\d+ \(\$\d+ to \$\d+\) a month/g),
    ].map(([text]) => text),
  );
  expect(perMonth.length).toBeGreaterThanOrEqual(2);
  expect(new Set(perMonth).size, String(perMonth)).toBe(1);
  const [, month = '', week = ''] =
    /\$(\d+) \(.*would have cost \$([\d.]+) in 7 days/.exec(lines.join(' ')) ?? [];
  // a month has 730 hours
  expect(Math.round((Number(week) / 168) * 730)).toBe(Number(month));
  expect(all.filter((file) => /\$1,730|\$110\b/.test(read(file)))).toEqual([]);
});

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

/** The codes of a pool's reasons: the compiler has a sentence for each in this table. */
function reasonCodes(): readonly string[] {
  const [, table = ''] = read('lambda/explain/reason-text.ts').split('const WORDS:');
  return [...(table.split('\n};')[0] ?? '').matchAll(/^ {2}'?([a-z-]+)'?: /gm)].map(([, code = '']) => code);
}

it('explains every reason in troubleshooting.md', () => {
  const page = read('docs/troubleshooting.md');
  expect(reasonCodes().length).toBeGreaterThan(50);
  expect(reasonCodes().filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});

// Checks docs/internals/faults.md: each item links a test file that contains a test with the cited name.

const docs = new URL('../../docs/internals/', import.meta.url);
/** `- **Fault.** What happens. [name of the test](../../test/file.test.ts)`. */
const ITEM = /^- \*\*(?<fault>.+?)\*\* .+ \[(?<name>[^\]]+)\]\((?<path>[^)]+\.test\.ts)\)$/;

const items = readFileSync(new URL('faults.md', docs), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('- '));
const faults = items.map((item) => ITEM.exec(item)?.groups?.fault ?? item);

describe('the list of faults', () => {
  it.each(items)('links an existing test: %s', (item) => {
    const { name = '', path = '' } = ITEM.exec(item)?.groups ?? {};
    const file = new URL(path, docs);
    expect(path !== '' && existsSync(file), 'the item links a test file').toBe(true);
    expect(readFileSync(file, 'utf8')).toContain(name);
  });

  it('has each fault once', () => {
    expect(faults.length).toBeGreaterThan(80);
    expect(faults).toEqual([...new Set(faults)]);
  });
});

// Checks that the shellCommands of docs/deploy.md work, as far as possible without an AWS account.

const guide = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
const blocks = [...guide.matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', text = '']) =>
  text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
);
const shellCommands = blocks.join('\n');

const pool = (name: string, organization: string, tags: Record<string, string>) => ({
  ...{ name, organization, tags, templates: [] },
  key: `coder/keys/${name}`,
});

it.each(blocks)('has a block that a shell can parse: %s', (block) => {
  expect(spawnSync('sh', ['-n'], { input: block, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  });
});

it('names only shellCommands that exist', async () => {
  const named = [...shellCommands.matchAll(/\.\/autoscaler (\w+)/g)].map(([, name = '']) => name);
  expect(named).toEqual(expect.arrayContaining(['setup', 'validate', 'doctor', 'status', 'plan']));
  for (const name of new Set(named)) expect(await run(name, '--help')).toMatchObject({ code: 0 });
});

describe('the shellCommands for secrets', () => {
  it.each([tokenCommand('coder/autoscaler-token'), keyCommand(pool('data-gpu', 'data', { cluster: 'gpu' }))])(
    'are those that setup prints: %s',
    (command) => {
      expect(shellCommands).toContain(`${command}\n`);
    },
  );
});

it('deletes at the end every secret that a person or setup creates', () => {
  const secrets = (pattern: RegExp) => [...shellCommands.matchAll(pattern)].map(([, name]) => name);
  const created = [DEFAULT_TOKEN_SECRET, KEY_TOKEN_SECRET, ...secrets(/create-secret --name (\S+)/g)];
  expect(new Set(secrets(/delete-secret --secret-id (\S+)/g))).toEqual(new Set(created));
});

it('copies the image to a repository whose name doctor knows', () => {
  const [, to = ''] = /crane copy \S+ (\S+)/.exec(shellCommands) ?? [];
  expect(releaseOfImage(to)).toMatch(/^v2\./);
});

// Checks that a reader can type every command of docs/quickstart.md.

const page = readFileSync(new URL('../../docs/quickstart.md', import.meta.url), 'utf8');
const MISSING = '/nowhere/autoscaler.yaml';
/** lab/test/demo/spot.test.ts runs those that plan from examples/plan/. */
const commands = [...page.matchAll(/^\$ \.\/autoscaler (.*)$/gm)]
  .map(([, command = '']) => command)
  .filter((command) => !command.includes('examples/plan'));

/** The words of a line, as a shell splits it. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = '']) => quoted ?? bare);
}

beforeEach(() => {
  vi.stubEnv('AUTOSCALER_CONFIG', MISSING);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

it('has commands that look, change something and replay the past', () => {
  const names = commands.map((command) => wordsOf(command)[0]);
  for (const name of ['status', 'plan', 'doctor', 'pin', 'unpin', 'pause', 'resume', 'backtest'])
    expect(names).toContain(name);
});

it.each(commands)(
  'has a command with the right options, which fails only for its files: %s',
  async (line) => {
    const files = wordsOf(line).map((word) => word.replace('dist/try', '/nowhere'));
    const environment = { AUTOSCALER_CONFIG: MISSING, AUTOSCALER_CLUSTER: 'any' };
    const { code, out, err } = await runIn({ environment }, ...files);
    expect({ code, text: out + err }).toEqual({ code: 1, text: expect.stringContaining('/nowhere') });
  },
);

it('has the options of npm run try', () => {
  const help = execFileSync(process.execPath, ['lab/demo/try/main.ts', '--help'], { encoding: 'utf8' });
  const options = [...page.replaceAll('\n', ' ').matchAll(/`npm run try -- (--\w+) /g)].map(
    ([, option = '']) => option,
  );
  expect(options).toEqual(['--hours', '--out', '--seed']);
  for (const option of options) expect(help).toContain(option);
});
