/** Compiles the modules of a package with tsc, in the folders that they have in the checkout. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageDefinition } from './definitions.ts';
import { PackagingError } from './packaging-error.ts';

/** Writes the compiled modules to `outDir`, and their `.d.ts` files if the package has types. */
export function compile(
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
