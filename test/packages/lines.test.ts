/** `npm run lines`: what belongs to which class and room, and which release it compares with. */
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findLastRelease } from '../../packaging/last-release.ts';
import { countFiles, ledgerText, shippedFiles } from '../../packaging/ledger.ts';
import { ownFolder } from '../support/own-folder.ts';

const DEFINITIONS = `
  entries: [
    // 'cli/docs.ts' does not ship
    'infra/index.ts',
  ],
  entries: ['cli/main.ts'],
  copied: ['guard', 'examples/*.yaml'],
`;
const PROJECT: Readonly<Record<string, string>> = {
  'packaging/definitions.ts': DEFINITIONS,
  'infra/constructs/handler-files.ts': "{ function: 'lambda/handler.ts' }\n",
  'infra/index.ts': "export { Stack } from './stack.ts';\n",
  'infra/stack.ts': "import { App } from 'aws-cdk-lib';\n",
  'lambda/handler.ts': "import type {\n  Plan,\n} from './decision/plan.ts';\n",
  'lambda/decision/plan.ts': "import './round.ts';\n\n",
  'lambda/decision/round.ts': "import { handler } from '../handler.ts';\n",
  'cli/main.ts': "const lab = () => import('../lab/commands.ts');\n",
  'cli/docs.ts': "import '../lab/proof/main.ts';\n",
  'lab/commands.ts': "import { World } from './world/world.ts';\n",
  'lab/world/world.ts': '\n\n\n',
  'lab/proof/main.ts': "import '../world/world.ts';\n",
  'lab/test/world.test.ts': "import '../world/world.ts';\n",
  'guard/guard.sh': 'true\ntrue\n',
  'examples/small.yaml': 'a: 1\n',
  'examples/compare/other.yaml': 'a: 1\n',
  'notes/a.md': 'three words here\n',
  'test/a.snap': '1\n',
};

it('ships what the function, the construct and the command import or copy, and nothing else', () => {
  expect([...shippedFiles(new Map(Object.entries(PROJECT)))].sort()).toEqual([
    'cli/main.ts',
    'examples/small.yaml',
    'guard/guard.sh',
    'infra/index.ts',
    'infra/stack.ts',
    'lab/commands.ts',
    'lab/world/world.ts',
    'lambda/decision/plan.ts',
    'lambda/decision/round.ts',
    'lambda/handler.ts',
  ]);
});

it('ships of the laboratory only the door, what-if and the world', () => {
  const paths = globSync('{lambda,infra,cli,lab,packaging}/**/*.ts').filter(
    (path) => !path.includes('node_modules'),
  );
  const shipped = shippedFiles(new Map(paths.map((path) => [path, readFileSync(path, 'utf8')])));
  const rooms = [...shipped].filter((path) => path.startsWith('lab/')).map((path) => path.split('/')[1]);
  expect([...new Set(rooms)].sort()).toEqual(['commands.ts', 'what-if', 'world']);
});

it('counts each class and its rooms, beside the last release', () => {
  const now = countFiles(new Map(Object.entries(PROJECT)));
  const { 'lab/world/world.ts': _, ...earlier } = PROJECT;
  const files = countFiles(new Map(Object.entries({ ...earlier, 'simulator/old.ts': '\n' })));
  const lines = ledgerText(now, { version: '0.2.0', files }).split('\n');
  expect(lines.slice(0, 11)).toEqual([
    '    now   0.2.0  change',
    '     16      13      +3  product',
    '      1       1       0    cli',
    '      1       1       0    examples',
    '      2       2       0    guard',
    '      2       2       0    infra',
    '      1       1       0    lab',
    '      3       0      +3    lab/world',
    '      3       3       0    lambda',
    '      3       3       0    lambda/decision',
    '      1       2      -1  lab',
  ]);
  expect(lines.slice(-2)).toEqual([
    '      3       3       0  docs, in words',
    '      3       3       0    notes',
  ]);
  expect(lines).toContain('      0       1      -1    simulator');
  expect(ledgerText(now).split('\n').slice(0, 3)).toEqual(['    now', '     16  product', '      1    cli']);
});

/** A repository with a commit for each change of CHANGELOG.md, and what a shell prints in it. */
function repository(...changelogs: readonly string[]) {
  const dir = ownFolder();
  const sh = (command: string): string => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: dir, encoding: 'utf8' });
    expect({ command, status, stderr }).toMatchObject({ status: 0 });
    return stdout.trim();
  };
  sh('git init -q && git config user.name test && git config user.email test@example.com');
  const commits = changelogs.map((text) => {
    writeFileSync(join(dir, 'CHANGELOG.md'), text);
    return sh('git add -A && git commit -qm one && git rev-parse HEAD');
  });
  return { dir, sh, commits };
}

const FIRST = '## [0.1.0] - 2026-01-01\n';
const SECOND = `## [0.2.0] - 2026-02-01\n${FIRST}`;
const NEXT = `## [Unreleased]\n${SECOND}`;

it('compares with the commit that gave the newest version its section', () => {
  const { dir, commits } = repository('# Changelog\n', FIRST, SECOND, FIRST, NEXT);
  const [, , released = ''] = commits;
  expect(findLastRelease(dir)).toEqual({
    version: '0.2.0',
    commit: released,
    from: `commit ${released.slice(0, 8)}, where CHANGELOG.md got its section`,
  });
  writeFileSync(join(dir, 'CHANGELOG.md'), `## [0.3.0] - 2026-03-01\n${SECOND}`);
  expect(findLastRelease(dir)).toMatchObject({ version: '0.2.0', commit: released });
});

it('compares with the tag of the newest version, if there is one', () => {
  const { dir, sh, commits } = repository(FIRST, SECOND, NEXT);
  sh(`git tag -a v0.2.0 -m two ${commits[2]} && git tag v0.1.0 ${commits[0]}`);
  expect(findLastRelease(dir)).toEqual({ version: '0.2.0', commit: commits[2], from: 'the tag v0.2.0' });
});

it.each([
  { depth: 1, known: false },
  { depth: 2, known: false },
  { depth: 3, known: true },
  { depth: 9, known: true },
])('knows the release ($known) in a clone of depth $depth', ({ depth, known }) => {
  const { dir, sh, commits } = repository(FIRST, SECOND, NEXT);
  sh(`git clone -q --depth ${depth} "file://${dir}" clone`);
  const found = findLastRelease(join(dir, 'clone'));
  if (known) expect(found).toMatchObject({ version: '0.2.0', commit: commits[1] });
  else expect(found).toMatchObject({ unknown: expect.stringContaining('git fetch --unshallow --tags') });
});

it('knows no release of a project that had none', () => {
  const { dir } = repository('# Changelog\n');
  expect(findLastRelease(dir)).toMatchObject({ unknown: expect.stringContaining('no commit') });
});

it('prints the table and where the release is from, and fails for no number', () => {
  const { dir, sh } = repository('# Changelog\n', SECOND);
  const files = { ...PROJECT, 'cli/main.ts': '\n'.repeat(100_000), 'notes/ü.md': 'a b c d e\n' };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, dirname(path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  sh(
    'git add -A && git commit -qm all && git tag v0.2.0 && rm notes/a.md && echo b >> notes/ü.md && echo >> guard/guard.sh',
  );
  const lines = sh(`'${process.execPath}' '${join(process.cwd(), 'packaging/lines.ts')}' --all`).split('\n');
  expect(lines).toContain('      3       2      +1    guard');
  expect(lines).toContain(' 100000  100000       0    cli');
  expect(lines).toContain('      6       8      -2    notes');
  expect(lines).toContain('      6  docs     notes/ü.md');
  expect(lines.at(-1)).toBe('The last release is 0.2.0: the tag v0.2.0.');
});
