/** `npm run package`: writes both packages to `dist/packages/`, or to the folder that you name. */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runMain } from './command.ts';
import { CLI, CONSTRUCT } from './definitions.ts';
import { repositoryOf } from './manifest.ts';
import { writePackage } from './write-package.ts';

const projectDir = fileURLToPath(new URL('..', import.meta.url));

function main([outDir = join(projectDir, 'dist/packages')]: readonly string[]): void {
  const repository = repositoryOf(process.env);
  const target = { projectDir, outDir: resolve(outDir), ...(repository && { repository }) };
  for (const definition of [CONSTRUCT, CLI])
    console.log(`${definition.name}: ${writePackage(definition, target)}`);
}

runMain(() => main(process.argv.slice(2)));
