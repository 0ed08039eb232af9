/** Records the story on a real coderd: writes all answers to a file (docs/internals/conformance.md). */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { RealStage, type RealStageOptions } from './stage/real-stage.ts';
import { transcriptText } from './stage/transcript.ts';
import { playStory } from './story/story.ts';

const USAGE =
  'usage: CODER_SESSION_TOKEN=… node lab/proof/conformance/main.ts --coderd URL --control URL --out FILE\n';

async function record(options: RealStageOptions, out: string): Promise<string> {
  const startedAt = new Date();
  const stage = await RealStage.at(options);
  const entries = await playStory(stage);
  const { version, calls } = stage;
  const playedAt = startedAt.toISOString().slice(0, 10);
  writeFileSync(out, transcriptText({ version, playedAt, calls, entries }));
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  return `${version}: ${entries.length} steps, ${calls} calls, ${seconds} s`;
}

try {
  const string = { type: 'string' } as const;
  const { values } = parseArgs({ options: { coderd: string, control: string, out: string } });
  const { coderd: url, control, out } = values;
  const token = process.env.CODER_SESSION_TOKEN;
  if (url === undefined || control === undefined || out === undefined || token === undefined) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
  } else process.stdout.write(`${await record({ url, control, token }, out)}\n`);
} catch (cause) {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const reason = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  process.stderr.write(`${error.message}${reason}\n`);
  process.exitCode = 1;
}
