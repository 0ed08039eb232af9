/** Generates the package.json of a package from its definition and from what its modules import. */
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { PackagingError } from './command.ts';
import type { PackageDefinition } from './definitions.ts';

/** The fields of the project's package.json that a manifest takes over. */
export type ProjectManifest = {
  readonly version: string;
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly repository?: unknown;
  readonly dependencies: Readonly<Record<string, string>>;
};

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])([^'".\s][^'"\s]*)\1/g;

/** `repository`: taken from the project's package.json if absent. The only place with an address of the project. */
export function manifestOf(
  definition: PackageDefinition,
  project: ProjectManifest,
  { dir, repository = project.repository }: { readonly dir: string; readonly repository?: unknown },
): Record<string, unknown> {
  const imported = packagesImportedIn(dir).filter((name) => !(name in definition.peers));
  return {
    name: definition.name,
    version: project.version,
    description: definition.description,
    license: project.license,
    keywords: definition.keywords,
    ...placeOf(repository),
    type: 'module',
    engines: project.engines,
    ...definition.entryFields,
    dependencies: Object.fromEntries(imported.map((name) => [name, rangeOf(name, project)])),
    ...(Object.keys(definition.peers).length > 0 && { peerDependencies: definition.peers }),
    publishConfig: { access: 'public' },
  };
}

/** A range lets the user's app share a dependency and take its security fixes. */
function rangeOf(name: string, { dependencies }: ProjectManifest): string {
  const version = dependencies[name];
  if (version !== undefined) return `^${version}`;
  throw new PackagingError(
    `writing a package.json: a compiled module imports ${name}, which is not in "dependencies" of the project's package.json; add it there`,
  );
}

/** Names of the packages that the compiled modules and declarations below `dir` import. */
function packagesImportedIn(dir: string): readonly string[] {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  const modules = files.filter((file) => /(?<!^prebuilt\b.*)\.(?:js|d\.ts)$/.test(file));
  const specifiers = modules.flatMap((file) =>
    [...withoutComments(readFileSync(join(dir, file), 'utf8')).matchAll(IMPORT)].map(
      ([, , name = '']) => name,
    ),
  );
  const names = specifiers.filter((name) => !isBuiltin(name)).map(packageOf);
  return [...new Set(names)].sort();
}

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

/** `@aws-sdk/client-ecs` for `@aws-sdk/client-ecs/commands`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/**
 * `repository`, `homepage` and `bugs`, all from the repository. It is filled in once, in the project's package.json:
 * `github:owner/name`, or an object with a `url` of https. Empty: nobody has filled it in.
 */
function placeOf(repository: unknown): Readonly<Record<string, unknown>> {
  if (repository === undefined) return {};
  const { url } = typeof repository === 'string' ? { url: repository } : (repository as { url?: string });
  const page = url?.replace(/^github:/, 'https://github.com/').replace(/^git\+|\.git$/g, '');
  if (page === undefined || !/^https:\/\/[^/]+\/.+\/[^/]+$/.test(page))
    throw new PackagingError(
      `reading "repository" of the project's package.json: ${JSON.stringify(repository)} is no github:owner/name and has no url of https; correct it`,
    );
  return {
    repository: { type: 'git', url: `git+${page}.git` },
    homepage: `${page}#readme`,
    bugs: { url: `${page}/issues` },
  };
}

/** In GitHub Actions; undefined elsewhere. A provenance must name the repository of its workflow. */
export function repositoryOf({
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: name,
}: NodeJS.ProcessEnv): { readonly type: 'git'; readonly url: string } | undefined {
  return server && name ? { type: 'git', url: `git+${server}/${name}.git` } : undefined;
}
