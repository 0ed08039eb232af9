/** `npm run demo:record`: runs the demo, and draws its frames as an animated SVG. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import * as z from 'zod';
import { wholeNumber } from '../../simulator/base/whole-number.ts';
import { animatedSvg } from './svg.ts';

const FRAMES = 'dist/demo/frames.jsonl';
/** One frame each, to keep the file small. */
const EVERY_MS = 500;
/** How long the end is shown. */
const LAST_MS = 5_000;

const { out, seed } = new Command('demo:record')
  .option('--out <file>', 'the SVG file', 'docs/images/demo.svg')
  .option('--seed <number>', 'seed of the random durations', wholeNumber, 1)
  .parse()
  .opts<{ out: string; seed: number }>();

mkdirSync('dist/demo', { recursive: true });
execFileSync(process.execPath, ['demo/main.ts', '--frames', FRAMES, '--seed', `${seed}`], {
  stdio: 'inherit',
});

const recorded = readFileSync(FRAMES, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => z.object({ atMs: z.number(), frame: z.string() }).parse(JSON.parse(line)));
const lengthMs = recorded.at(-1)?.atMs ?? 0;
const frames = Array.from({ length: Math.ceil(lengthMs / EVERY_MS) + 1 }, (_, index) => {
  const shown = recorded.findLast(({ atMs }) => atMs <= index * EVERY_MS) ?? recorded[0];
  return { frame: shown?.frame ?? '', ms: EVERY_MS };
}).concat({ frame: recorded.at(-1)?.frame ?? '', ms: LAST_MS });
const rows = Math.max(...frames.map(({ frame }) => frame.split('\n').length));
const svg = animatedSvg(frames, {
  ...{ columns: 80, rows, still: Math.floor(frames.length / 4) },
  title: 'A recording of the demo: five pools scale out from zero, run 62 jobs and scale in to zero.',
});
writeFileSync(out, svg);
process.stdout.write(`wrote ${out}: ${frames.length} frames, ${Math.round(svg.length / 1024)} KB\n`);
