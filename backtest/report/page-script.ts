/** The script of the report's page, with the parts of echarts that it uses: one piece of text. */
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

let script: string | undefined;

export function pageScript(): string {
  script ??= bundle();
  return script;
}

function bundle(): string {
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
  // in a script of a page nothing may read like its end, or like a comment of HTML
  return (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}
