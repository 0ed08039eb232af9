/** The script of the page, with echarts: a file in the published package, bundled by esbuild elsewhere. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Only the published package has this file. */
const prebuilt = new URL('../../../prebuilt/report-page.js', import.meta.url);

let script: string | undefined;

export function pageScript(): string {
  script ??= existsSync(prebuilt) ? readFileSync(prebuilt, 'utf8') : buildPageScript();
  return script;
}

export function buildPageScript(): string {
  // Loaded here because the published package does not depend on esbuild.
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL('page/main.ts', import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'eof',
    logLevel: 'silent',
  });
  // inline script text must contain neither its own end tag nor the start of an HTML comment
  return (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}
