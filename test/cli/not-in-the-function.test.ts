import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('bundles no code for logs, history or overrides into the function', async () => {
  const { metafile } = await build({
    entryPoints: ['lambda/handler.ts'],
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    metafile: true,
    write: false,
  });
  const files = Object.keys(metafile.inputs);
  expect(files).toContain('lambda/adapters/ecs/ecs.ts');
  expect(
    files.filter((file) => /^cli\/|^lab\/|adapters\/logs\/|coderd\/history|override-tags/.test(file)),
  ).toEqual([]);
});
