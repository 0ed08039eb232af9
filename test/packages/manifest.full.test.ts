/** The generated package.json files, and what `npm run package` puts beside them. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHandler, HANDLER_NAMES } from '../../infra/constructs/handler-files.ts';
import { licencesOf } from '../../packaging/bundle.ts';
import { CLI, CONSTRUCT, type PackageDefinition } from '../../packaging/definitions.ts';
import { manifestOf, repositoryOf } from '../../packaging/manifest.ts';
import { writePackage } from '../../packaging/write-package.ts';
import { ownFolder } from '../support/own-folder.ts';

const projectDir = resolve('.');
const outDir = mkdtempSync(join(projectDir, 'node_modules', '.packages-'));
afterAll(() => rmSync(outDir, { recursive: true }));

/** A trace of half an hour with one build for the pool `default` of the example. */
const ONE_BUILD = `{"trace":1,"name":"one","from":"2026-03-02T08:00:00Z","to":"2026-03-02T08:30:00Z"}
{"at":"2026-03-02T08:05:00Z","organization":"default","tags":{},"seconds":60,"kind":"user"}
`;

const dirOf = ({ folder }: PackageDefinition): string => join(outDir, folder);
const manifest = (definition: PackageDefinition) =>
  JSON.parse(readFileSync(join(dirOf(definition), 'package.json'), 'utf8'));
const filesOf = (definition: PackageDefinition, pattern: string): readonly string[] =>
  globSync(pattern, { cwd: dirOf(definition) });

beforeAll(() => {
  for (const definition of [CONSTRUCT, CLI]) writePackage(definition, { projectDir, outDir });
});

describe('the package of the construct', () => {
  it('depends on what its modules import, and on nothing that only tests, simulator or build need', () => {
    expect(Object.keys(manifest(CONSTRUCT).dependencies)).toEqual(['fastest-levenshtein', 'yaml', 'zod']);
    expect(Object.keys(manifest(CONSTRUCT).peerDependencies)).toEqual(['aws-cdk-lib', 'constructs']);
  });

  it('writes the template for the command line', async () => {
    const { default: file } = manifest(CONSTRUCT).exports['./plain'];
    const { synthText } = await import(pathToFileURL(join(dirOf(CONSTRUCT), file)).href);
    const [config, folder] = [join(projectDir, 'autoscaler.example.yaml'), join(outDir, 'template')];
    expect(synthText({ config, out: folder })).toContain(`${join(folder, 'template.json')}  1`);
    expect(readdirSync(folder).sort()).toEqual(['assets', 'template.json']);
  });

  it.each(HANDLER_NAMES)('contains the handler of the %s as the checkout bundles it', (handler) => {
    const { files } = buildHandler(handler);
    expect(files.map(({ name }) => name).sort()).toEqual(['index.mjs', 'index.mjs.map']);
    for (const { name, contents } of files) {
      const packed = readFileSync(join(dirOf(CONSTRUCT), 'prebuilt', handler, `${name}.br`));
      expect(brotliDecompressSync(packed).equals(contents)).toBe(true);
    }
  });

  it('has every file that its manifest exports', () => {
    const { main, types, exports } = manifest(CONSTRUCT);
    const named = [main, types, ...Object.values(exports).flatMap((value) => Object.values(Object(value)))];
    const paths = named.filter((path) => String(path).startsWith('./'));
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !existsSync(join(dirOf(CONSTRUCT), path)))).toEqual([]);
  });

  it('can be loaded by `require`, so no module has a top-level await', () => {
    const script = `console.log(Object.keys(require(${JSON.stringify(dirOf(CONSTRUCT))})).sort().join())`;
    const printed = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect(printed.trim().split(',')).toEqual(
      expect.arrayContaining(['ConfigError', 'ProvisionerAutoscaler', 'StackError']),
    );
  });

  it('contains the licence of each package that is bundled into the function', () => {
    const text = readFileSync(join(dirOf(CONSTRUCT), 'THIRD-PARTY-LICENSES'), 'utf8');
    for (const name of ['undici', 'zod', '@middy/core', '@aws-sdk/client-ecs'])
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});

describe('the package of the CLI', () => {
  it('names the command of npm on its pages, not the launcher of a clone', () => {
    const pages = filesOf(CLI, 'docs/*.md').map((page) => readFileSync(join(dirOf(CLI), page), 'utf8'));
    expect(pages.join('\n')).toContain('npx autoscaler plan');
    expect(pages.filter((page) => /\.\/autoscaler[\s`]/.test(page))).toEqual([]);
  });

  it('depends on neither a build tool nor the charting library, which are prebuilt', () => {
    const names = Object.keys(manifest(CLI).dependencies);
    expect(names).toContain('commander');
    expect(names.filter((name) => /esbuild|echarts|node-|aws-cdk|vitest/.test(name))).toEqual([]);
  });

  it('does not install the construct, but lets strict package managers find it for autoscaler synth', () => {
    const { peerDependencies, peerDependenciesMeta } = manifest(CLI);
    expect(peerDependencies).toEqual({ [CONSTRUCT.name]: '>=0.1.0' });
    expect(peerDependenciesMeta).toEqual({ [CONSTRUCT.name]: { optional: true } });
  });

  it('contains the pages of docs/ that its messages refer to', () => {
    const cited = filesOf(CLI, '{cli,infra,lambda}/**/*.js').flatMap((file) => {
      const code = readFileSync(join(dirOf(CLI), file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return code.match(/\bdocs\/[a-z-]+\.md\b/g) ?? [];
    });
    expect(cited.length).toBeGreaterThan(0);
    expect([...new Set(cited)].filter((page) => !existsSync(join(dirOf(CLI), page)))).toEqual([]);
  });

  it('prints its version and runs a backtest with a report', () => {
    const main = join(dirOf(CLI), 'cli/main.js');
    const run = (...args: string[]) => execFileSync(process.execPath, [main, ...args], { encoding: 'utf8' });
    const report = join(outDir, 'report.html');
    expect(run('--version').trim()).toBe(manifest(CLI).version);
    const trace = join(outDir, 'trace.jsonl');
    writeFileSync(trace, ONE_BUILD);
    // two threads: the package must hold what a thread runs
    const against = ['--against', 'none', '--workers', '2'];
    run('backtest', '--trace', trace, '--config', 'autoscaler.example.yaml', '--out', report, ...against);
    expect(readFileSync(report, 'utf8')).toContain('<svg');
  });
});

describe.each([CONSTRUCT, CLI])('$name', (definition) => {
  it('has README, licences and changelog', () => {
    const texts = ['README.md', 'LICENSE', 'CHANGELOG.md', 'THIRD-PARTY-LICENSES'];
    expect(texts.filter((file) => !existsSync(join(dirOf(definition), file)))).toEqual([]);
  });

  it('has no TypeScript and no tests', () => {
    expect(filesOf(definition, '**/*.ts').filter((file) => !file.endsWith('.d.ts'))).toEqual([]);
    expect(filesOf(definition, '**/*.test.*')).toEqual([]);
  });

  it('has every file that a module names relative to itself', () => {
    const missing = filesOf(definition, '**/*.js').flatMap((file) => {
      const code = readFileSync(join(dirOf(definition), file), 'utf8');
      const named = [...code.matchAll(/new URL\('(\.[^']*)', import\.meta\.url\)/g)];
      const base = pathToFileURL(join(dirOf(definition), dirname(file), '/'));
      return named.flatMap(([, path = '']) => (existsSync(new URL(path, base)) ? [] : [`${file}: ${path}`]));
    });
    // the checkout's own paths: modules look whether these files are there
    expect(missing.filter((line) => !/prebuilt|dist\/try|\/autoscaler$/.test(line))).toEqual([]);
  });
});

describe('a manifest', () => {
  const project = {
    version: '1.2.3',
    license: 'Apache-2.0',
    engines: { node: '>=22.19.0' },
    dependencies: { zod: '4.0.0' },
  };
  const empty = ownFolder();

  it.each(['github:a/b', 'https://github.com/a/b', { type: 'git', url: 'git+https://github.com/a/b.git' }])(
    'has its page and the place for issues from the one repository in package.json: %j',
    (repository) => {
      for (const definition of [CLI, CONSTRUCT])
        expect(manifestOf(definition, { ...project, repository }, { dir: empty })).toMatchObject({
          repository: { type: 'git', url: 'git+https://github.com/a/b.git' },
          homepage: 'https://github.com/a/b#readme',
          bugs: { url: 'https://github.com/a/b/issues' },
        });
    },
  );

  it.each(['a/b', 'git@github.com:a/b.git', { directory: 'c' }])(
    'refuses the repository %j',
    (repository) => {
      expect(() => manifestOf(CLI, { ...project, repository }, { dir: empty })).toThrow(
        / is no github:owner\/name and has no url of https; correct it$/,
      );
    },
  );

  it('names the repository only if it is known', () => {
    const repository = repositoryOf({
      GITHUB_SERVER_URL: 'https://git.example.com',
      GITHUB_REPOSITORY: 'a/b',
    });
    expect(repository).toEqual({ type: 'git', url: 'git+https://git.example.com/a/b.git' });
    expect(repositoryOf({})).toBeUndefined();
    const unknown = manifestOf(CLI, project, { dir: empty });
    for (const field of ['repository', 'homepage', 'bugs']) expect(unknown).not.toHaveProperty(field);
    expect(manifestOf(CLI, project, { dir: empty, repository })).toMatchObject({ repository });
  });

  it('is refused if a module imports a package without a version in the project', () => {
    expect(() => manifestOf(CLI, project, { dir: dirOf(CLI) })).toThrow(
      'which is not in "dependencies" of the project\'s package.json; add it there',
    );
  });

  it('lists no licences if nothing is bundled', () => {
    expect(licencesOf(['cli/main.ts'], projectDir)).toBe('');
  });
});
