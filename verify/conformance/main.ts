/** Records the story on a real coderd: writes all answers to a file (docs/internals/conformance.md). */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { RealStage, type RealStageOptions } from './stage/real-stage.ts';
import { transcriptText } from './stage/transcript.ts';
import { playStory } from './story/story.ts';

const USAGE =
  'usage: CODER_SESSION_TOKEN=… node verify/conformance/main.ts --coderd URL --control URL --out FILE\n';

async function record(options: RealStageOptions, out: string): Promise<string> {
  const startedAt = new Date();
  const stage = await RealStage.at(options);
  const entries = await playStory(stage);
  const { version, calls } = stage;
  writeFileSync(
    out,
    transcriptText({ version, playedAt: startedAt.toISOString().slice(0, 10), calls, entries }),
  );
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  return `${version}: ${entries.length} steps, ${calls} calls, ${seconds} s`;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { coderd: { type: 'string' }, control: { type: 'string' }, out: { type: 'string' } },
  });
  const { coderd: url, control, out } = values;
  const token = process.env.CODER_SESSION_TOKEN;
  if (url === undefined || control === undefined || out === undefined || token === undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  process.stdout.write(`${await record({ url, control, token }, out)}\n`);
  return 0;
}

try {
  process.exitCode = await main();
} catch (cause) {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const reason = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  process.stderr.write(`${error.message}${reason}\n`);
  process.exitCode = 1;
}
