/** `npm run package`: writes both packages to `dist/packages/`, or to the folder that you name. */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLI, CONSTRUCT } from './definitions.ts';
import { repositoryOf } from './repository.ts';
import { writePackage } from './write-package.ts';

const projectDir = fileURLToPath(new URL('..', import.meta.url));
const [outDir = join(projectDir, 'dist/packages')] = process.argv.slice(2);
const repository = repositoryOf(process.env);
for (const definition of [CONSTRUCT, CLI]) {
  const dir = writePackage(definition, {
    projectDir,
    outDir: resolve(outDir),
    ...(repository && { repository }),
  });
  console.log(`${definition.name}: ${dir}`);
}
