/** Bundles the script of the report page and the parts of echarts that it uses into one text. */
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
  // inline script text must contain neither its own end tag nor the start of an HTML comment
  return (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}
