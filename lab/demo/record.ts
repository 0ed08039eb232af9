/** `npm run demo:record`: films the demo in its page. It needs Chromium, and img2webp of the package webp. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { chromium } from 'playwright-core';

const { out } = new Command('demo:record')
  .option('--out <file>', 'the animated WebP file', 'docs/images/watch.webp')
  .parse()
  .opts<{ out: string }>();

const VIEW = { width: 1120, height: 860 };
const FRAME_MS = 700;
/** The last frame stays for a moment before the film begins anew. */
const LAST_MS = 4_000;
const QUALITY = 70;

const demo = spawn(process.execPath, ['lab/demo/main.ts', '--watch'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(demo, 'exit');
const url = await addressIn(demo.stdout);
const folder = mkdtempSync(join(tmpdir(), 'autoscaler-demo-'));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' });
const page = await browser.newPage({ viewport: VIEW, colorScheme: 'light' });
await page.goto(url);
const frames: string[] = [];
while (demo.exitCode === null) {
  const frame = join(folder, `${String(frames.length).padStart(4, '0')}.png`);
  await page.screenshot({ path: frame });
  frames.push(frame);
  await Promise.race([sleep(FRAME_MS), ended]);
}
await browser.close();
const timed = frames.flatMap((frame, at) => [
  '-d',
  `${at === frames.length - 1 ? LAST_MS : FRAME_MS}`,
  frame,
]);
execFileSync('img2webp', ['-loop', '0', '-lossy', '-q', `${QUALITY}`, ...timed, '-o', out], {
  stdio: 'ignore',
});
rmSync(folder, { recursive: true });
process.stdout.write(`wrote ${out}: ${frames.length} frames, ${Math.round(statSync(out).size / 1024)} KB\n`);

/** The address that the demo prints. It waits for a page to open. */
async function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [found] = /http:\S+/.exec(line) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error('filming the demo: it ended before it printed an address');
}
