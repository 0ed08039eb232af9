/** `npm run demo:record`: plays and draws the demo. */
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { wholeNumber } from '../../world/base/whole-number.ts';
import { recordingView } from '../view.ts';
import { play } from './play.ts';
import { demoSvg } from './svg.ts';

const { out, seed } = new Command('demo:record')
  .option('--out <file>', 'the SVG file', 'docs/images/demo.svg')
  .option('--seed <number>', 'seed of the random durations', wholeNumber, 1)
  .parse()
  .opts<{ out: string; seed: number }>();

const frames: string[] = [];
await play(seed, (world) => recordingView(world, (frame) => frames.push(frame)));
const svg = demoSvg(frames);
writeFileSync(out, svg);
process.stdout.write(`wrote ${out}: ${Math.round(svg.length / 1024)} KB\n`);
