/**
 * Builds the image of a generated Dockerfile into a folder, without Docker: it runs the same script
 * in each stage, and makes the same copies. It knows only the instructions that the Dockerfile has.
 */
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export type Built = {
  /** The root of the image's file system: only what the Dockerfile adds. */
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What the stages printed. */
  readonly log: string;
};

const run = promisify(execFile);
const BUSYBOX = spawnSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).stdout.trim();
/** The image of coder has only these. */
const TOOLS = [
  'sh',
  'cut',
  'dirname',
  'env',
  'find',
  'grep',
  'chmod',
  'mkdir',
  'rm',
  'sed',
  'sha256sum',
].concat(['sort', 'touch', 'unzip']);
export const HAS_TOOLS = BUSYBOX !== '';

const COPY = /^(?:--from=(\S+) )?(?:--chmod=(\d+) )?(\S+) (\S+)$/;
const TERRAFORM = fileURLToPath(new URL('terraform.mjs', import.meta.url));

/** `context`: the folder that the command has written. `to`: an empty folder. */
export async function buildImage(context: string, to: string, registry: string): Promise<Built> {
  mkdirSync(join(to, 'bin'));
  symlinkSync(TERRAFORM, join(to, 'bin/terraform'));
  for (const tool of TOOLS) symlinkSync(BUSYBOX, join(to, 'bin', tool));
  const PATH = [join(to, 'bin'), dirname(process.execPath)].join(delimiter);
  const environment: Record<string, string> = {};
  let [stage, log] = ['', ''];
  const inStage = (path: string, of = stage): string => join(to, of, path);
  const steps: Readonly<Record<string, (text: string) => unknown>> = {
    ARG: () => {},
    USER: () => {},
    FROM: (text) => {
      const [from = '', name = 'final'] = text.replace(/^--platform=\S+ /, '').split(' AS ');
      stage = name;
      mkdirSync(inStage('/'));
      if (from === 'fetch') cpSync(inStage('/', 'fetch'), inStage('/'), { recursive: true });
    },
    COPY: (text) => {
      const [, from, mode, source = '', target = ''] = COPY.exec(text) ?? [];
      const origin = from === undefined ? join(context, source) : inStage(source, from);
      cpSync(origin, inStage(target), { recursive: true, preserveTimestamps: true });
      if (mode !== undefined) chmodSync(inStage(target), Number.parseInt(mode, 8));
    },
    RUN: async (text) => {
      const [, script = '', ...args] = text.replace(/^--mount=\S+ /, '').split(' ');
      const env = { PATH, STUB_REGISTRY: registry };
      log += (await run(join(to, 'bin/sh'), [inStage(script), ...args], { env, timeout: 60_000 })).stdout;
    },
    ENV: (text) => {
      const [name = '', value = ''] = text.split('=');
      environment[name] = value;
    },
  };
  for (const line of readFileSync(join(context, 'Dockerfile'), 'utf8').split('\n')) {
    const [, instruction = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (line === '' || line.startsWith('#')) continue;
    const step = steps[instruction];
    if (step === undefined) throw new Error(`the Dockerfile has ${line}`);
    await step(text);
  }
  return { root: inStage('/', 'final'), environment, log };
}
