/** Writes one package to a folder: compiled modules, copied and generated files, and package.json. */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { licencesOf } from './bundle.ts';
import { PackagingError } from './command.ts';
import type { GeneratedFile, PackageDefinition } from './definitions.ts';
import { manifestOf, type ProjectManifest } from './manifest.ts';

export type PackageTarget = {
  readonly projectDir: string;
  readonly outDir: string;
  /** For the manifest. @default that of the project's package.json */
  readonly repository?: unknown;
};

/** Replaces the folder of the package and returns its path. */
export function writePackage(definition: PackageDefinition, target: PackageTarget): string {
  const { projectDir } = target;
  const dir = join(target.outDir, definition.folder);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  compile(definition, { projectDir, outDir: dir });
  const { files, inputs } = definition.prebuild(projectDir);
  for (const file of files) write(dir, file);
  write(dir, { path: 'THIRD-PARTY-LICENSES', contents: licencesOf(inputs, projectDir) });
  for (const pattern of ['LICENSE', 'CHANGELOG.md', ...definition.copied]) copy(pattern, projectDir, dir);
  cpSync(join(projectDir, `packaging/readme/${definition.folder}.md`), join(dir, 'README.md'));
  const project = projectManifest(projectDir);
  const manifest = manifestOf(definition, project, { ...target, dir });
  write(dir, { path: 'package.json', contents: `${JSON.stringify(manifest, null, 2)}\n` });
  return dir;
}

/** With the dependencies of the laboratory: the command line brings its door's modules. */
function projectManifest(projectDir: string): ProjectManifest {
  const read = (file: string) => JSON.parse(readFileSync(join(projectDir, file), 'utf8'));
  const project: ProjectManifest = read('package.json');
  return { ...project, dependencies: { ...project.dependencies, ...read('lab/package.json').dependencies } };
}

function write(dir: string, { path, contents }: GeneratedFile): void {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, contents);
}

/** The pages name the launcher of a clone. A package has a command of npm instead. */
function asTypedHere(page: string): string {
  return page.replaceAll(/(?<![\w.])\.\/autoscaler(?=[\s`])/g, 'npx autoscaler');
}

function copy(pattern: string, from: string, to: string): void {
  const paths = globSync(pattern, { cwd: from });
  if (paths.length === 0)
    throw new PackagingError(`copying "${pattern}": no such file; correct packaging/definitions.ts`);
  for (const path of paths) {
    cpSync(join(from, path), join(to, path), { recursive: true });
    if (path.endsWith('.md'))
      writeFileSync(join(to, path), asTypedHere(readFileSync(join(to, path), 'utf8')));
  }
}

/** Writes the modules compiled by tsc to `outDir`, in the folders that they have in the checkout, and their `.d.ts` files if the package has types. */
function compile(
  { folder, entries, hasTypes }: PackageDefinition,
  { projectDir, outDir }: { readonly projectDir: string; readonly outDir: string },
): void {
  const tsconfig = `${outDir}.tsconfig.json`;
  const settings = {
    extends: join(projectDir, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      // `npm run types` has checked the same modules
      noCheck: true,
      rewriteRelativeImportExtensions: true,
      declaration: hasTypes,
      rootDir: projectDir,
      outDir,
      typeRoots: [join(projectDir, 'node_modules/@types')],
      // aws-cdk-lib's own types do not hold under this option (infra/tsconfig.json)
      ...(hasTypes && { exactOptionalPropertyTypes: false }),
    },
    files: entries.map((entry) => join(projectDir, entry)),
    include: [],
  };
  writeFileSync(tsconfig, JSON.stringify(settings, null, 2));
  const tsc = join(projectDir, 'node_modules/.bin/tsc');
  const { status, stdout } = spawnSync(tsc, ['-p', tsconfig], { encoding: 'utf8' });
  if (status !== 0)
    throw new PackagingError(`compiling the package ${folder}: tsc found errors; fix them\n${stdout}`);
}
