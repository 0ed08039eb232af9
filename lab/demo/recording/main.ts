/** `npm run demo:record`: plays and draws the demo, and the dashboard of the deployment of `npm run try`. */
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { parse } from 'yaml';
import { wholeNumber } from '../../world/base/whole-number.ts';
import { synthesizeStack } from '../../world/synthesized-stack.ts';
import { tryConfig } from '../try/pools.ts';
import { recordingView } from '../view.ts';
import { dashboardSvg } from './dashboard.ts';
import { watchDeployment } from './dashboard-data.ts';
import { play } from './play.ts';
import { demoSvg } from './svg.ts';

const { out, dashboard, seed } = new Command('demo:record')
  .option('--out <file>', 'the SVG file of the demo', 'docs/images/demo.svg')
  .option('--dashboard <file>', 'the SVG file of the dashboard', 'docs/images/dashboard.svg')
  .option('--seed <number>', 'seed of the random durations', wholeNumber, 1)
  .parse()
  .opts<{ out: string; dashboard: string; seed: number }>();

function write(file: string, svg: string): void {
  writeFileSync(file, svg);
  process.stdout.write(`wrote ${file}: ${Math.round(svg.length / 1024)} KB\n`);
}

const frames: string[] = [];
await play(seed, (world) => recordingView(world, (frame) => frames.push(frame)));
write(out, demoSvg(frames));

const config = `${tryConfig('https://coder.example.com')}aws: { dashboard: true }\n`;
const { resources, function: lambda } = synthesizeStack(config, 'dist/demo/recording/cdk.out');
const data = await watchDeployment(parse(config), lambda.environment);
write(dashboard, dashboardSvg({ resources, data }));
